// Where the elements of a resized dimension come from.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_TABLE_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_TABLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "frontends/onnx/ops/resize_spec.h"

namespace tilewright {

// The input position that output position `o` of dimension `d` copies, of
// `input` positions.
int64_t NearestPosition(const ResizeSpec& spec, int d, int64_t input,
                        int64_t o);

// A range of output positions, [first, end).
struct OutputRange {
  int64_t first = 0, end = 0;
};

// Those of dimension `d` that come from inside of the data, of `input`
// positions: all, unless the spec crops. The others are `spec.outside`.
OutputRange OutputsInside(const ResizeSpec& spec, int d, int64_t input);

// What output positions of one dimension read: `taps` neighbours from
// `first`[o] on, which may lie outside of the input: there its border is.
struct ResizeTable {
  int64_t taps = 1;
  std::vector<int64_t> first;
  std::vector<double> weight;  // [output, taps]
};

ResizeTable TableOf(const ResizeSpec& spec, int d, int64_t input);

// floor((multiplier o + offset) / divisor) of position o.
struct RegularSteps {
  int64_t multiplier = 0, offset = 0, divisor = 1;
};

// Steps that give `positions`, by a divisor of 1, 2, 4, 8 or 16: vectors of
// outputs then read all by one pattern. nullopt if there are none.
std::optional<RegularSteps> FindSteps(absl::Span<const int64_t> positions);

// Gives the weights of what lies outside of the input to its border, so that
// zeros may be read there. False, and nothing is done, if some output has no
// tap inside.
bool MoveWeightsInside(ResizeTable& table, int64_t input);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_TABLE_H_
