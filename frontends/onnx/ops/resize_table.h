// Where the elements of a resized dimension come from.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_TABLE_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_TABLE_H_

#include <cstdint>
#include <vector>

#include "frontends/onnx/ops/resize_spec.h"

namespace tilewright {

// The input position that output position `o` of dimension `d` copies, of
// `input` positions.
int64_t NearestPosition(const ResizeSpec& spec, int d, int64_t input,
                        int64_t o);

// For every output position of one dimension, `taps` positions and weights.
struct ResizeTable {
  int64_t taps = 1;
  std::vector<int64_t> position;
  std::vector<double> weight;
};

ResizeTable TableOf(const ResizeSpec& spec, int d, int64_t input);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_RESIZE_TABLE_H_
