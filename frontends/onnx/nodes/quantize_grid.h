// The 8-bit integers that a QuantizeLinear rounds to.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_QUANTIZE_GRID_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_QUANTIZE_GRID_H_

#include <cstdint>
#include <optional>

#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

// round(x / scale) + zero, within [least, most].
struct QuantizeGrid {
  float scale;
  int64_t zero, least, most;
};

// nullopt: its scale or zero point is not known, is one of several or is none
// of f32 and of 8 bits, or the node is no QuantizeLinear.
std::optional<QuantizeGrid> GridOf(const OnnxGraph& graph,
                                   const OnnxNode& node);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_QUANTIZE_GRID_H_
