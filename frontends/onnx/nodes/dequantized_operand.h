// Operands of a node that DequantizeLinear makes of integers.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_DEQUANTIZED_OPERAND_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_DEQUANTIZED_OPERAND_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/nodes/quantize_grid.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// scale (value - zero), of 8 bits or of i32. Scales are positive floats, one or
// one for each index of an axis; zero points are known.
struct DequantizedOperand {
  ValueId value;
  ValueId scale_id, zero_id;
  const HostTensor *scale, *zero;  // the graph's
  int narrow_bits;  // of the zero points, and so of the integers: ElementType
  int node;         // index of the DequantizeLinear

  bool one_scale() const { return scale->num_elements() == 1; }
  bool of_8_bits() const { return Is8Bit(zero->dtype()); }
  float scale_of(int64_t i) const {
    return static_cast<float>(scale->Get(one_scale() ? 0 : i).f);
  }
  int64_t zero_of(int64_t i) const {
    return zero->Get(zero->num_elements() == 1 ? 0 : i).i;
  }
  // Of its scales, where there are several and the tensor has this rank.
  int64_t AxisIn(const OnnxGraph& graph, int64_t rank) const;
};

// Input `i` of the node, if DequantizeLinear makes it so.
std::optional<DequantizedOperand> DequantizedInput(const OnnxGraph& graph,
                                                   const OnnxNode& node,
                                                   size_t i);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_DEQUANTIZED_OPERAND_H_
