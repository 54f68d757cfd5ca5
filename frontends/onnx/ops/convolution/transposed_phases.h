// A transposed convolution as plain ones and the interleaving of their results.
//
// With place = o + pad_before = q * stride + r, output o sums the taps r, r +
// stride, ... of inputs q, q - 1, ...: the outputs of one phase r are a plain
// convolution with every stride-th tap, and phases of equally many taps are one
// with the channels of all of them.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_CONVOLUTION_TRANSPOSED_PHASES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_CONVOLUTION_TRANSPOSED_PHASES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/ops/window.h"

namespace tilewright {

// Phases [first, end) of one dimension, of `taps` each, and the quotients at
// which they have outputs.
struct PhaseRange {
  int64_t first, end;
  int64_t taps;
  int64_t begin, count;

  int64_t phases() const { return end - first; }
};

// The phases of a dimension without dilation, in ranges of equally many taps;
// those without an output are left out. `split`: also of the same quotients, so
// that nothing is computed beyond the outputs.
std::vector<PhaseRange> PhaseRanges(const WindowDim& dim, bool split);

// All ways to split so many dimensions are compared.
inline constexpr size_t kMostPhaseDims = 3;

// Output 0 of a node with inputs x, w (known) and perhaps a bias. REQUIRES: one
// group, no dilation, at most kMostPhaseDims dimensions. ResourceExhausted
// where memory for weights is missing.
absl::Status EmitPhaseConvolutions(ImportContext& in,
                                   const std::vector<WindowDim>& window);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_CONVOLUTION_TRANSPOSED_PHASES_H_
