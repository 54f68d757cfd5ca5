#include "tools/gpu/check_graphs.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace tilewright::cuda {
namespace {

// In the texts $R are rows, $A to $D other extents, $t is the type of what is
// stored, $l converts what is loaded to fp32, and $s what is stored from it.

constexpr char kProduct[] = R"(A: $t[$R, $A] = placeholder
B: $t[$A, $B] = placeholder
c: $t[$B] = placeholder
T: f32[$R, $B] = compute (m: $R, n: $B) reduce (k: $A) sum:f32 { $l(A[m, k]) * $l(B[k, n]) }
Y: $t[$R, $B] = compute (m: $R, n: $B) { $s(max(T[m, n] + $l(c[n]), 0.0)) }
return Y
)";

constexpr char kBatchedProduct[] = R"(A: $t[$R, $A, $B] = placeholder
B: $t[$R, $B, $C] = placeholder
Y: $t[$R, $A, $C] = compute (b: $R, m: $A, n: $C) reduce (k: $B) sum:f32 { $l(A[b, m, k]) * $l(B[b, k, n]) }
return Y
)";

// $D = $C: the padding keeps the size.
constexpr char kConvolution[] = R"(X: $t[$R, $A, $C, $C] = placeholder
W: $t[$B, $A, 3, 3] = placeholder
P: $t[$R, $A, $D, $D] = compute (n: $R, c: $A, y: $D, x: $D) { select(y - 1 >= 0 && y - 1 < $C && x - 1 >= 0 && x - 1 < $C, X[n, c, y - 1, x - 1], $s(0.0)) }
T: f32[$R, $B, $C, $C] = compute (n: $R, o: $B, y: $C, x: $C) reduce (c: $A, i: 3, j: 3) sum:f32 { $l(P[n, c, y + i, x + j]) * $l(W[o, c, i, j]) }
Y: $t[$R, $B, $C, $C] = compute (n: $R, o: $B, y: $C, x: $C) { $s(max(T[n, o, y, x], 0.0)) }
return Y
)";

constexpr char kDepthwise[] = R"(X: $t[$R, $A, $C, $C] = placeholder
W: $t[$A, 3, 3] = placeholder
Y: $t[$R, $A, $D, $D] = compute (n: $R, c: $A, y: $D, x: $D) reduce (i: 3, j: 3) sum:f32 { $l(X[n, c, y + i, x + j]) * $l(W[c, i, j]) }
return Y
)";

constexpr char kMaxPool[] = R"(X: $t[$R, $A, $C, $C] = placeholder
Y: $t[$R, $A, $D, $D] = compute (n: $R, c: $A, y: $D, x: $D) reduce (i: 3, j: 3) max:f32 { $l(X[n, c, 2 * y + i, 2 * x + j]) }
return Y
)";

constexpr char kMeanPool[] = R"(X: $t[$R, $A, $C, $C] = placeholder
T: f32[$R, $A] = compute (n: $R, c: $A) reduce (y: $C, x: $C) sum:f32 { $l(X[n, c, y, x]) }
Y: $t[$R, $A] = compute (n: $R, c: $A) { $s(T[n, c] * 0.125) }
return Y
)";

constexpr char kSoftmax[] = R"(X: $t[$R, $A] = placeholder
M: f32[$R] = compute (r: $R) reduce (k: $A) max:f32 { $l(X[r, k]) }
E: f32[$R, $A] = compute (r: $R, c: $A) { exp($l(X[r, c]) - M[r]) }
S: f32[$R] = compute (r: $R) reduce (k: $A) sum:f32 { E[r, k] }
Y: $t[$R, $A] = compute (r: $R, c: $A) { $s(E[r, c] / S[r]) }
return Y
)";

constexpr char kLayerNorm[] = R"(X: $t[$R, $A] = placeholder
g: $t[$A] = placeholder
b: $t[$A] = placeholder
S: f32[$R] = compute (r: $R) reduce (k: $A) sum:f32 { $l(X[r, k]) }
D: f32[$R, $A] = compute (r: $R, c: $A) { $l(X[r, c]) - S[r] / $A.0 }
V: f32[$R] = compute (r: $R) reduce (k: $A) sum:f32 { D[r, k] * D[r, k] }
Y: $t[$R, $A] = compute (r: $R, c: $A) { $s(D[r, c] / sqrt(V[r] / $A.0 + 0.00001) * $l(g[c]) + $l(b[c])) }
return Y
)";

constexpr char kElementwise[] = R"(X: $t[$R, $A] = placeholder
Y: $t[$R, $A] = compute (r: $R, c: $A) { $s($l(X[r, c]) * sigmoid($l(X[r, c]))) }
return Y
)";

constexpr char kTranspose[] = R"(X: $t[$R, $A, $B] = placeholder
Y: $t[$R, $B, $A] = compute (r: $R, c: $B, d: $A) { X[r, d, c] }
return Y
)";

constexpr char kScores[] = R"(Q: $t[$R, $B] = placeholder
K: $t[$A, $B] = placeholder
P: f32[$R, $A] = compute (r: $R, c: $A) reduce (k: $B) sum:f32 { $l(Q[r, k]) * $l(K[c, k]) }
M: f32[$R] = compute (r: $R) reduce (k: $A) max:f32 { P[r, k] }
E: f32[$R, $A] = compute (r: $R, c: $A) { exp(P[r, c] - M[r]) }
S: f32[$R] = compute (r: $R) reduce (k: $A) sum:f32 { E[r, k] }
Y: $t[$R, $A] = compute (r: $R, c: $A) { $s(E[r, c] / S[r]) }
return Y
)";

constexpr char kChain[] = R"(X: $t[$R, $A] = placeholder
Z: $t[$R, $A] = placeholder
b: $t[$A] = placeholder
U: f32[$R, $A] = compute (r: $R, c: $A) { $l(X[r, c]) + $l(b[c]) }
V: f32[$R, $A] = compute (r: $R, c: $A) { U[r, c] * sigmoid(U[r, c]) }
W: f32[$R, $A] = compute (r: $R, c: $A) { V[r, c] + $l(Z[r, c]) }
Y: $t[$R, $A] = compute (r: $R, c: $A) { $s(max(W[r, c], 0.0)) }
return Y
)";

using Extents = std::array<int64_t, 5>;  // $R, $A, $B, $C, $D

struct Row {
  const char* family;
  const char* name;
  const char* text;
  Extents gpu, emulated;
};
constexpr Row kRows[] = {
    {"product", "product", kProduct, {256, 192, 224}, {20, 12, 36}},
    {"product", "product", kProduct, {1024, 1024, 1024}, {33, 23, 20}},
    {"batched product",
     "product",
     kBatchedProduct,
     {24, 128, 64, 128},
     {3, 12, 10, 20}},
    {"convolution",
     "3 x 3",
     kConvolution,
     {8, 64, 64, 28, 30},
     {2, 4, 6, 9, 11}},
    {"depthwise", "3 x 3", kDepthwise, {8, 96, 1, 58, 56}, {2, 5, 1, 11, 9}},
    {"pooling", "maximum", kMaxPool, {8, 64, 1, 57, 28}, {2, 5, 1, 11, 5}},
    {"pooling", "mean", kMeanPool, {8, 512, 1, 14}, {2, 12, 1, 5}},
    {"softmax", "softmax", kSoftmax, {1024, 1000}, {7, 70}},
    {"norm", "layer", kLayerNorm, {1024, 768}, {6, 96}},
    {"elementwise", "swish", kElementwise, {512, 1000}, {9, 100}},
    {"transpose", "last two axes", kTranspose, {16, 192, 256}, {2, 20, 36}},
    {"product, softmax", "scores", kScores, {1024, 128, 64}, {12, 40, 16}},
    {"chain", "four maps", kChain, {16384, 1024}, {7, 48}},
    {"chain", "softmax", kSoftmax, {16384, 1024}, {4, 64}},
    {"chain", "layer norm", kLayerNorm, {16384, 1024}, {4, 64}},
};

CheckGraph GraphOf(const Row& row, const Extents& extents, DType storage) {
  const bool half = storage == DType::kFloat16;
  CheckGraph graph;
  graph.family = row.family;
  graph.name = absl::StrCat(row.name, ", ");
  graph.storage = storage;
  graph.rows = extents[0];
  std::vector<std::pair<std::string, std::string>> values = {
      {"$t", half ? "f16" : "f32"},
      {"$l", half ? "cast:f32" : ""},
      {"$s", half ? "cast:f16" : ""}};
  for (size_t i = 0; i < extents.size() && extents[i] > 0; ++i) {
    absl::StrAppend(&graph.name, i == 0 ? "" : " x ", extents[i]);
    if (i > 0) {
      values.emplace_back(std::string("$") + static_cast<char>('A' + i - 1),
                          absl::StrCat(extents[i]));
    }
  }
  graph.text = absl::StrReplaceAll(row.text, values);
  return graph;
}

}  // namespace

std::string CheckGraph::TextOf(int64_t some_rows) const {
  return absl::StrReplaceAll(text, {{"$R", absl::StrCat(some_rows)}});
}

std::vector<CheckGraph> CheckGraphs(CheckSizes sizes) {
  std::vector<CheckGraph> graphs;
  for (const DType storage : {DType::kFloat32, DType::kFloat16}) {
    for (const Row& row : kRows) {
      graphs.push_back(GraphOf(
          row, sizes == CheckSizes::kGpu ? row.gpu : row.emulated, storage));
    }
  }
  return graphs;
}

CheckGraph SquareProduct(int64_t n) {
  CheckGraph graph;
  graph.family = "product";
  graph.name = absl::StrCat(n);
  graph.rows = n;
  graph.text = absl::StrReplaceAll(R"(A: f32[$R, $N] = placeholder
B: f32[$N, $N] = placeholder
C: f32[$R, $N] = compute (m: $R, n: $N) reduce (k: $N) sum:f32 { A[m, k] * B[k, n] }
return C
)",
                                   {{"$N", absl::StrCat(n)}});
  return graph;
}

}  // namespace tilewright::cuda
