// Random contractions of narrow numbers for tests of dot intrinsics.
#ifndef TILEWRIGHT_SKETCH_TESTING_DOT_WORKLOADS_H_
#define TILEWRIGHT_SKETCH_TESTING_DOT_WORKLOADS_H_

#include <cstdint>

#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// A product of matrices or a convolution: u8 with s8 constants over their whole
// range, summed in i32 (and then, or not, scaled, rounded and clipped to u8),
// or bf16 with bf16 constants, summed in f32. Any stride and dilation, odd
// sizes; plain, channel-blocked or channels-last; terms that fill groups and
// terms that do not. Same seed, same workload.
Workload DrawDot(uint64_t seed);

// Y[m, n] = sum over k of A[m, k] * B[k, n]: u8 with s8 (i32 sums) or bf16 (f32
// sums, stored as f32), B constant.
Workload NarrowGemm(DType a, int64_t m, int64_t n, int64_t k);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_DOT_WORKLOADS_H_
