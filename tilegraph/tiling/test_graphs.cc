#include "tilegraph/tiling/test_graphs.h"

#include <string>

#include "absl/strings/substitute.h"
#include "base/check.h"
#include "tilegraph/text_form.h"

namespace tilewright {
namespace {

TensorGraph Parse(const std::string& text) {
  absl::StatusOr<TensorGraph> graph = ParseText(text);
  TW_CHECK(graph.ok()) << graph.status();
  return *std::move(graph);
}

}  // namespace

TensorGraph MatmulSoftmax(int64_t m, int64_t k, int64_t n) {
  return Parse(absl::Substitute(R"(
    A: f32[$0, $1] = placeholder
    B: f32[$1, $2] = placeholder
    C: f32[$0, $2] = compute (m: $0, n: $2) reduce (k: $1) sum:f32 {
      A[m, k] * B[k, n] }
    M: f32[$0] = compute (m: $0) reduce (n: $2) max:f32 { C[m, n] }
    E: f32[$0, $2] = compute (m: $0, n: $2) { exp(C[m, n] - M[m]) }
    S: f32[$0] = compute (m: $0) reduce (n: $2) sum:f32 { E[m, n] }
    Y: f32[$0, $2] = compute (m: $0, n: $2) { E[m, n] / S[m] }
    return Y
  )",
                                m, k, n));
}

TensorGraph ConvReluPool(int64_t in, int64_t out, int64_t size) {
  return Parse(absl::Substitute(R"(
    X: f32[$0, $2, $2] = placeholder
    W: f32[$1, $0, 3, 3] = placeholder
    C: f32[$1, $3, $3] = compute (o: $1, h: $3, w: $3)
      reduce (c: $0, i: 3, j: 3) sum:f32 {
        X[c, h + i, w + j] * W[o, c, i, j] }
    R: f32[$1, $3, $3] = compute (o: $1, h: $3, w: $3) {
      max(C[o, h, w], 0.0) }
    P: f32[$1, $4, $4] = compute (o: $1, h: $4, w: $4)
      reduce (i: 2, j: 2) max:f32 { R[o, h * 2 + i, w * 2 + j] }
    return P
  )",
                                in, out, size, size - 2, (size - 2) / 2));
}

TensorGraph Matmul(int64_t m, int64_t k, int64_t n) {
  return Parse(absl::Substitute(R"(
    A: f32[$0, $1] = placeholder
    B: f32[$1, $2] = placeholder
    C: f32[$0, $2] = compute (m: $0, n: $2) reduce (k: $1) sum:f32 {
      A[m, k] * B[k, n] }
    return C
  )",
                                m, k, n));
}

}  // namespace tilewright
