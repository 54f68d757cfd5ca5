// Small workloads for tests, and the verifier of a replayed tree: tilegraph's
// reference interpreter.
#ifndef TILEWRIGHT_SKETCH_TESTING_TEST_WORKLOADS_H_
#define TILEWRIGHT_SKETCH_TESTING_TEST_WORKLOADS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::sketch {

// A: f32[m, k], B: constant [k, n], b: constant [n];  T = sum A·B,  Y = max(T +
// b, 0).
Workload GemmRelu(int64_t m, int64_t n, int64_t k);
// X: f32[1, ic, h, w], W: constant [oc, ic, kh, kw];  P = padded X,  C = sum
// P·W,  Y = max(C, 0).
Workload ConvPadRelu(int64_t ic, int64_t oc, int64_t h, int64_t w,
                     int64_t kernel, int64_t stride, int64_t pad);
// The halo of X: f32[1, ic, h + before + after, w + before + after] is known to
// be zero, W: constant [oc, ic, kernel, kernel];  C = sum X·W,  Y = max(C, 0).
Workload HaloConvRelu(int64_t ic, int64_t oc, int64_t h, int64_t w,
                      int64_t kernel, int64_t stride, int64_t dilation,
                      int64_t before, int64_t after);
// X: f32[1, c, h, w];  P = -inf padded,  M = max over a window,  Y = M · 2.
Workload MaxPool(int64_t c, int64_t h, int64_t w, int64_t kernel,
                 int64_t stride, int64_t pad);
// X: f32[r, c];  M = max over c,  E = exp(X - M),  S = sum E,  Y = E / S.
Workload Softmax(int64_t r, int64_t c);
// X: f16[r, c];  S: f16[r] = sum over c in f32,  Y = S · S.
Workload HalfSum(int64_t r, int64_t c);
// X: f32[r, c];  I: i64[r] = argmax over c,  Y = I + 1.
Workload ArgMax(int64_t r, int64_t c);
// X: f32[m, n];  U = 2 X,  V = U + 1 (an output),  Y = V · U (an output): two
// outputs of one shape, one feeding the other.
Workload TwoOutputs(int64_t m, int64_t n);
// T1 = A·B, T2 = T1·C: two contractions in a row, f32.
Workload TwoGemms(int64_t m, int64_t n, int64_t k, int64_t p);

// One of the above, with extents drawn from {1, 2, 3, 5, 7, 8, 13, 16, 17}.
Workload DrawWorkload(uint64_t seed);

// Runs the tree forwards and with the last task first on values drawn from
// `seed`; Internal if an output differs from the reference.
absl::Status CheckTree(const BlockTree& tree, const Workload& workload,
                       uint64_t seed);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_TEST_WORKLOADS_H_
