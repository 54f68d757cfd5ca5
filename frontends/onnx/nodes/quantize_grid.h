// The 8-bit integers that a QuantizeLinear rounds to.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_QUANTIZE_GRID_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_QUANTIZE_GRID_H_

#include <cstdint>
#include <optional>

#include "frontends/onnx/graph/onnx_graph.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright {

// round(x / scale) + zero, within [least, most], each step rounded as a float.
struct QuantizeGrid {
  QuantizeGrid(float scale, int64_t zero, DType dtype);

  // Of what is divided already. Unbounded: before it is cut off.
  float Unbounded(float quotient) const;
  float Rounded(float quotient) const;

  float scale;
  int64_t zero, least, most;
};

// The least integer of 8 bits.
int64_t LeastOf(DType dtype);

// nullopt: its scale or zero point is not known, is one of several or is none
// of f32 and of 8 bits, or the node is no QuantizeLinear.
std::optional<QuantizeGrid> GridOf(const OnnxGraph& graph,
                                   const OnnxNode& node);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_QUANTIZE_GRID_H_
