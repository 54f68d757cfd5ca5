// Groups that are computed tile by tile, for tests and benchmarks of fused
// schedules.
#ifndef TILEWRIGHT_SKETCH_TESTING_FUSED_WORKLOADS_H_
#define TILEWRIGHT_SKETCH_TESTING_FUSED_WORKLOADS_H_

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "sketch/trace/fused_wishes.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

struct FusedWorkload {
  Workload workload;
  FusedWishes plan;  // its tile the whole output
};

// X: f32[rows, widths[0]];  one product with bias per further width, relu
// between them.
FusedWorkload Mlp(int64_t rows, const std::vector<int64_t>& widths);
// X: f32[rows, width];  layer norm, product to `hidden` with GELU, product back
// to `width`, plus X.
FusedWorkload TokenMlp(int64_t rows, int64_t width, int64_t hidden);
// X: f32[rows, depth], R: f32[rows, width];  product with bias plus R (of depth
// 0: X is f32[rows, width], the sum of both alone), layer norm of that, product
// to `out` (0: none).
FusedWorkload AddNorm(int64_t rows, int64_t depth, int64_t width, int64_t out);
// Q: f32[heads, rows, depth], K: f32[heads, depth, keys], V: f32[heads, keys,
// depth];  softmax(Q·K) · V. `transposed`: K is f32[heads, keys, depth], to be
// transposed first.
FusedWorkload Attention(int64_t heads, int64_t rows, int64_t keys,
                        int64_t depth, bool transposed = false);
// X: f32[rows, keys], V: f32[keys, depth];  softmax(2 X) · V, the doubling a
// stage of its own.
FusedWorkload SoftmaxProduct(int64_t rows, int64_t keys, int64_t depth);
// X: f32[1, channels[0], h, w], channels in blocks of 16;  one 1x1 convolution
// with relu per further number of channels.
FusedWorkload Pointwise(int64_t h, int64_t w,
                        const std::vector<int64_t>& channels);

// One of the above, of odd sizes too, with a tile and blocks of reductions
// drawn from `seed`.
FusedWorkload DrawFused(uint64_t seed);

// Gives some products of the plan's stages blocks of steps.
void DrawReduceSteps(FusedWorkload& fused, Random& random);

// Every stage of `fused` as a group of its own, in order: what is computed
// where tiles are not passed on.
std::vector<Workload> UnfusedWorkloads(const FusedWorkload& fused);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_FUSED_WORKLOADS_H_
