// Chains of windows with paddings between them, computed tile by tile, for
// tests and benchmarks of fused schedules.
#ifndef TILEWRIGHT_SKETCH_TESTING_FUSED_WINDOWS_H_
#define TILEWRIGHT_SKETCH_TESTING_FUSED_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "sketch/testing/fused_workloads.h"

namespace tilewright::sketch {

// One window of a chain: a stage.
struct WindowStep {
  enum class Kind : uint8_t { kConv, kDepthwise, kMaxPool };
  Kind kind = Kind::kConv;
  int64_t channels = 1;  // of the result; only a convolution changes them
  int64_t kernel = 1;
  int64_t stride = 1;
  // Zeros around the input; -inf if it is pooled.
  int64_t before = 0, after = 0;
  bool clip = true;  // to 0..6; convolutions only
};

enum class WindowLayout : uint8_t { kPlain, kBlocked, kLast };

// X: f32[1, channels, h, w];  what the steps make of it, plus X if `residual`.
// Every tensor lies as `layout` says, blocks being 16 channels.
// REQUIRES: no window is larger than what it slides over.
FusedWorkload WindowChain(int64_t channels, int64_t h, int64_t w,
                          const std::vector<WindowStep>& steps,
                          WindowLayout layout, bool residual = false);

// 1x1 convolution to `hidden`, depthwise 3x3 convolution, 1x1 convolution to
// `out`; plus X where shapes agree.
FusedWorkload InvertedResidual(int64_t channels, int64_t hidden, int64_t out,
                               int64_t size, int64_t stride,
                               WindowLayout layout = WindowLayout::kBlocked);

// X: f32[1, h * w, channels];  layer norm of every pixel, 1x1 convolution to
// `out` channels and depthwise 3x3 convolution, channels innermost throughout.
FusedWorkload NormedWindow(int64_t h, int64_t w, int64_t channels, int64_t out);
// One of odd sizes, with a tile drawn too.
FusedWorkload DrawNormedWindow(uint64_t seed);

// A chain of two to four windows with odd sizes, strides and paddings, in any
// layout, with a tile drawn too. Same seed, same chain.
FusedWorkload DrawWindowChain(uint64_t seed);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_FUSED_WINDOWS_H_
