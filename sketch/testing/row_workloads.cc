#include "sketch/testing/row_workloads.h"

#include <iterator>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/check.h"
#include "base/random.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

constexpr char kSoftmax[] = R"(
    X: f32[2, $r, $k] = placeholder
    B: f32[2, 1, $k] = placeholder
    Z: f32[2, $r, $k] = compute (b: 2, r: $r, k: $k) { X[b, r, k] * 0.125 + B[b, 0, k] }
    M: f32[2, $r, 1] = compute (b: 2, r: $r, o: 1) reduce (k: $k) max:f32 { Z[b, r, k] }
    E: f32[2, $r, $k] = compute (b: 2, r: $r, k: $k) { exp(Z[b, r, k] - M[b, r, 0]) }
    S: f32[2, $r, 1] = compute (b: 2, r: $r, o: 1) reduce (k: $k) sum:f32 { E[b, r, k] }
    Y: f32[2, $r, $k] = compute (b: 2, r: $r, k: $k) { E[b, r, k] / S[b, r, 0] }
    return Y
)";
constexpr char kLogSoftmax[] = R"(
    X: f32[$r, $k] = placeholder
    M: f32[$r] = compute (r: $r) reduce (k: $k) max:f32 { X[r, k] }
    E: f32[$r, $k] = compute (r: $r, k: $k) { exp(X[r, k] - M[r]) }
    S: f32[$r] = compute (r: $r) reduce (k: $k) sum:f32 { E[r, k] }
    Y: f32[$r, $k] = compute (r: $r, k: $k) { X[r, k] - M[r] - log(S[r]) }
    return Y
)";
constexpr char kLayerNorm[] = R"(
    X: f32[$r, $k] = placeholder
    g: f32[$k] = placeholder
    b: f32[$k] = placeholder
    S: f32[$r, 1] = compute (r: $r, o: 1) reduce (k: $k) sum:f32 { X[r, k] }
    A: f32[$r, 1] = compute (r: $r, o: 1) { S[r, 0] / 7.0 }
    Q: f32[$r, 1] = compute (r: $r, o: 1) reduce (k: $k) sum:f32 { (X[r, k] - A[r, 0]) * (X[r, k] - A[r, 0]) }
    V: f32[$r, 1] = compute (r: $r, o: 1) { 1.0 / sqrt(Q[r, 0] / 7.0 + 0.00001) }
    Y: f32[$r, $k] = compute (r: $r, k: $k) { (X[r, k] - A[r, 0]) * V[r, 0] * g[k] + b[k] }
    return Y
)";
// Over channels: rows, not their elements, are neighbours.
constexpr char kChannelNorm[] = R"(
    X: f32[1, $k, 3, $r] = placeholder
    S: f32[1, 1, 3, $r] = compute (n: 1, o: 1, h: 3, w: $r) reduce (c: $k) sum:f32 { X[n, c, h, w] }
    Q: f32[1, 1, 3, $r] = compute (n: 1, o: 1, h: 3, w: $r) reduce (c: $k) sum:f32 { (X[n, c, h, w] - S[n, 0, h, w]) * X[n, c, h, w] }
    Y: f32[1, $k, 3, $r] = compute (n: 1, c: $k, h: 3, w: $r) { exp(X[n, c, h, w] - S[n, 0, h, w]) * Q[n, 0, h, w] }
    return Y
)";
constexpr char kInstanceNorm[] = R"(
    X: f32[2, $r, 5, $k] = placeholder
    S: f32[2, $r, 1, 1] = compute (n: 2, c: $r, o: 1, p: 1) reduce (h: 5, w: $k) sum:f32 { X[n, c, h, w] }
    Y: f32[2, $r, 5, $k] = compute (n: 2, c: $r, h: 5, w: $k) { X[n, c, h, w] - S[n, c, 0, 0] }
    return Y
)";
constexpr char kReduceAll[] = R"(
    X: f32[$r, $k] = placeholder
    S: f32[] = compute () reduce (r: $r, k: $k) sum:f32 { X[r, k] * X[r, k] }
    Y: f32[] = compute () { sqrt(S[]) }
    return Y
)";
constexpr char kReduceAlone[] = R"(
    X: f32[$r, $k] = placeholder
    Y: f32[$r] = compute (r: $r) reduce (k: $k) max:f32 { X[r, k] }
    return Y
)";
constexpr char kArgMax[] = R"(
    X: f32[$r, $k] = placeholder
    Y: i64[$r] = compute (r: $r) reduce (k: $k) argmax:f32 { X[r, k], k } result 1
    return Y
)";
constexpr char kHalf[] = R"(
    X: f16[$r, $k] = placeholder
    S: f16[$r] = compute (r: $r) reduce (k: $k) sum:f32 { cast:f32(X[r, k]) }
    Y: f16[$r, $k] = compute (r: $r, k: $k) { X[r, k] * S[r] }
    return Y
)";

const char* TextOf(RowFamily family) {
  switch (family) {
    case RowFamily::kSoftmax:
      return kSoftmax;
    case RowFamily::kLogSoftmax:
      return kLogSoftmax;
    case RowFamily::kLayerNorm:
      return kLayerNorm;
    case RowFamily::kChannelNorm:
      return kChannelNorm;
    case RowFamily::kInstanceNorm:
      return kInstanceNorm;
    case RowFamily::kReduceAll:
      return kReduceAll;
    case RowFamily::kReduceAlone:
      return kReduceAlone;
    case RowFamily::kArgMax:
      return kArgMax;
    case RowFamily::kHalf:
      return kHalf;
  }
  return "";
}

}  // namespace

Workload MakeRows(RowFamily family, int64_t rows, int64_t elements) {
  absl::StatusOr<Workload> workload = ParseWorkload(absl::StrReplaceAll(
      TextOf(family),
      {{"$r", absl::StrCat(rows)}, {"$k", absl::StrCat(elements)}}));
  TW_CHECK(workload.ok()) << std::string(workload.status().message());
  return *std::move(workload);
}

Workload DrawRows(uint64_t seed) {
  constexpr int64_t kRows[] = {1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33};
  constexpr int64_t kElements[] = {1,  2,  3,  5,  7,  8,   13, 16,
                                   17, 31, 33, 49, 96, 100, 131};
  Random random(seed);
  const auto family = static_cast<RowFamily>(random.Index(kRowFamilies));
  int64_t rows = kRows[random.Index(std::size(kRows))],
          elements = kElements[random.Index(std::size(kElements))];
  const bool over_channels = family == RowFamily::kChannelNorm;
  const bool blocks = (over_channels || family == RowFamily::kInstanceNorm) &&
                      random.Bernoulli(0.4);
  if (blocks) (over_channels ? elements : rows) = 16 * random.UniformInt(1, 3);
  Workload workload = MakeRows(family, rows, elements);
  if (!blocks) return workload;
  for (const Tensor& tensor : workload.graph.tensors()) {
    const bool image = tensor.kind == TensorKind::kPlaceholder ||
                       tensor.id == workload.graph.outputs()[0];
    if (image)
      workload.layouts[tensor.id] =
          Layout::BlockedLast(tensor.static_shape(), 1, 16);
  }
  return workload;
}

}  // namespace tilewright::sketch
