#include "sketch/testing/ansor_workloads.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/substitute.h"
#include "base/check.h"
#include "base/random.h"
#include "sketch/testing/test_workloads.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::sketch {
namespace {

Workload Parsed(const std::string& text) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  TW_CHECK(graph.ok()) << graph.status();
  Workload workload;
  workload.graph = *std::move(graph);
  return workload;
}

}  // namespace

Workload AnsorMatmul(int64_t m, int64_t n, int64_t k) {
  return Parsed(absl::Substitute(
      R"(A: f32[$0, $2] = placeholder
B: f32[$2, $1] = placeholder
C: f32[$0, $1] = compute (m: $0, n: $1) reduce (k: $2) sum:f32 { A[m, k] * B[k, n] }
return C
)",
      m, n, k));
}

Workload AnsorDoubleMatmul(int64_t n) {
  return Parsed(absl::Substitute(
      R"(A: f32[$0, $0] = placeholder
B: f32[$0, $0] = placeholder
D: f32[$0, $0] = placeholder
C: f32[$0, $0] = compute (i: $0, j: $0) reduce (k: $0) sum:f32 { A[i, k] * B[k, j] }
E: f32[$0, $0] = compute (i: $0, j: $0) reduce (k: $0) sum:f32 { C[i, k] * D[k, j] }
return E
)",
      n));
}

Workload AnsorConvBnRelu(int64_t size, int64_t in, int64_t out) {
  return Parsed(absl::Substitute(
      R"(X: f32[1, $1, $0, $0] = placeholder
W: f32[$2, $1, 3, 3] = placeholder
bias: f32[$2, 1, 1] = placeholder
scale: f32[$2, 1, 1] = placeholder
offset: f32[$2, 1, 1] = placeholder
P: f32[1, $1, $3, $3] = compute (n: 1, c: $1, h: $3, w: $3) { select(h >= 1 && h < $4 && w >= 1 && w < $4, X[n, c, h - 1, w - 1], 0.0) }
C: f32[1, $2, $0, $0] = compute (n: 1, o: $2, h: $0, w: $0) reduce (c: $1, i: 3, j: 3) sum:f32 { P[n, c, h + i, w + j] * W[o, c, i, j] }
S: f32[1, $2, $0, $0] = compute (n: 1, o: $2, h: $0, w: $0) { C[n, o, h, w] + bias[o, 0, 0] }
T: f32[1, $2, $0, $0] = compute (n: 1, o: $2, h: $0, w: $0) { S[n, o, h, w] * scale[o, 0, 0] }
U: f32[1, $2, $0, $0] = compute (n: 1, o: $2, h: $0, w: $0) { T[n, o, h, w] + offset[o, 0, 0] }
Y: f32[1, $2, $0, $0] = compute (n: 1, o: $2, h: $0, w: $0) { max(U[n, o, h, w], 0.0) }
return Y
)",
      size, in, out, size + 2, size + 1));
}

Workload AnsorMaxPool(int64_t channels, int64_t size) {
  return Parsed(absl::Substitute(
      R"(X: f32[1, $0, $1, $1] = placeholder
P: f32[1, $0, $2, $2] = compute (n: 1, c: $0, h: $2, w: $2) { select(h >= 1 && h < $3 && w >= 1 && w < $3, X[n, c, h - 1, w - 1], -1000.0) }
Y: f32[1, $0, $3, $3] = compute (n: 1, c: $0, h: $3, w: $3) reduce (i: 2, j: 2) max:f32 { P[n, c, h + i, w + j] }
return Y
)",
      channels, size, size + 2, size + 1));
}

Workload AnsorMin(int64_t rows, int64_t columns) {
  return Parsed(absl::Substitute(R"(A: f32[$0, $1] = placeholder
B: f32[$0] = compute (i: $0) reduce (k: $1) min:f32 { A[i, k] }
return B
)",
                                 rows, columns));
}

Workload AnsorSoftmax(int64_t rows, int64_t columns) {
  return Parsed(absl::Substitute(
      R"(X: f32[$0, $1] = placeholder
M: f32[$0] = compute (i: $0) reduce (k: $1) max:f32 { X[i, k] }
E: f32[$0, $1] = compute (i: $0, j: $1) { exp(X[i, j] - M[i]) }
S: f32[$0] = compute (i: $0) reduce (k: $1) sum:f32 { E[i, k] }
Y: f32[$0, $1] = compute (i: $0, j: $1) { E[i, j] / S[i] }
return Y
)",
      rows, columns));
}

Workload AnsorSoftmax4(int64_t a, int64_t b, int64_t c, int64_t d) {
  return Parsed(absl::Substitute(
      R"(X: f32[$0, $1, $2, $3] = placeholder
M: f32[$0, $1, $2] = compute (a: $0, b: $1, c: $2) reduce (k: $3) max:f32 { X[a, b, c, k] }
E: f32[$0, $1, $2, $3] = compute (a: $0, b: $1, c: $2, d: $3) { exp(X[a, b, c, d] - M[a, b, c]) }
S: f32[$0, $1, $2] = compute (a: $0, b: $1, c: $2) reduce (k: $3) sum:f32 { E[a, b, c, k] }
Y: f32[$0, $1, $2, $3] = compute (a: $0, b: $1, c: $2, d: $3) { E[a, b, c, d] / S[a, b, c] }
return Y
)",
      a, b, c, d));
}

Workload AnsorWinograd(int64_t size, int64_t in, int64_t out) {
  const int64_t tiles = size / 2;
  return Parsed(absl::Substitute(
      R"(X: f32[1, $0, $0, $2] = placeholder
W: f32[4, 4, $3, $2] = placeholder
Bt: f32[4, 4] = constant { 1, 0, 0, 0, 0, 1, -1, 1, -1, 1, 1, 0, 0, 0, 0, -1 }
At: f32[4, 2] = constant { 1, 0, 1, 1, 1, -1, 0, -1 }
P: f32[1, $4, $4, $2] = compute (n: 1, h: $4, w: $4, c: $2) { select(h >= 1 && h < $5 && w >= 1 && w < $5, X[n, h - 1, w - 1, c], 0.0) }
I: f32[4, 4, $6, $2] = compute (e: 4, v: 4, p: $6, c: $2) { P[0, p floordiv $1 * 2 + e, p floormod $1 * 2 + v, c] }
D: f32[4, 4, $6, $2] = compute (e: 4, v: 4, p: $6, c: $2) reduce (a: 4, b: 4) sum:f32 { I[a, b, p, c] * Bt[a, e] * Bt[b, v] }
G: f32[4, 4, $6, $3] = compute (e: 4, v: 4, p: $6, o: $3) reduce (c: $2) sum:f32 { D[e, v, p, c] * W[e, v, o, c] }
V: f32[2, 2, $6, $3] = compute (x: 2, y: 2, p: $6, o: $3) reduce (a: 4, b: 4) sum:f32 { G[a, b, p, o] * At[a, x] * At[b, y] }
Y: f32[1, $0, $0, $3] = compute (n: 1, h: $0, w: $0, o: $3) { V[h floormod 2, w floormod 2, h floordiv 2 * $1 + w floordiv 2, o] }
return Y
)",
      size, tiles, in, out, size + 2, size + 1, tiles * tiles));
}

Workload AnsorZeroRank(int64_t n) {
  return Parsed(absl::Substitute(R"(A: f32[$0] = placeholder
B: f32[] = compute () reduce (k: $0) sum:f32 { A[k] }
return B
)",
                                 n));
}

Workload DrawAnsor(uint64_t seed) {
  Random random(seed);
  switch (random.Index(8)) {
    case 0:
      return AnsorMatmul(13, 24, 17);
    case 1:
      return AnsorMatmul(3, 4, 80);
    case 2:
      return AnsorDoubleMatmul(9);
    case 3:
      return AnsorConvBnRelu(6, 3, 5);
    case 4:
      return AnsorSoftmax(4, 40);
    case 5:
      return AnsorWinograd(4, 3, 16);
    case 6:
      return AnsorZeroRank(70);
    default:
      return GemmRelu(9, 40, 12);
  }
}

}  // namespace tilewright::sketch
