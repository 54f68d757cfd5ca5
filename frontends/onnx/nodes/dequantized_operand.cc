#include "frontends/onnx/nodes/dequantized_operand.h"

#include <cmath>

#include "frontends/onnx/graph/known_values.h"

namespace tilewright {

int64_t DequantizedOperand::AxisIn(const OnnxGraph& graph, int64_t rank) const {
  const int64_t axis = graph.nodes[node].Int("axis", 1);
  return axis < 0 ? axis + rank : axis;
}

std::optional<DequantizedOperand> DequantizedInput(const OnnxGraph& graph,
                                                   const OnnxNode& node,
                                                   size_t i) {
  if (i >= node.inputs.size() || node.inputs[i] == kNoValue)
    return std::nullopt;
  const int producer = graph.values[node.inputs[i]].producer;
  if (producer < 0 || !graph.nodes[producer].Is("DequantizeLinear"))
    return std::nullopt;
  const OnnxNode& from = graph.nodes[producer];
  DequantizedOperand result;
  result.scale = KnownInput(graph, from, 1);
  result.zero = KnownInput(graph, from, 2);
  if (result.scale == nullptr || result.zero == nullptr ||
      result.scale->dtype() != DType::kFloat32 ||
      from.Int("block_size", 0) != 0)
    return std::nullopt;
  for (int64_t c = 0; c < result.scale->num_elements(); ++c) {
    const double scale = result.scale->Get(c).f;
    if (!(scale > 0) || !std::isfinite(scale)) return std::nullopt;
  }
  result.value = from.inputs[0];
  result.scale_id = from.inputs[1];
  result.zero_id = from.inputs[2];
  result.narrow_bits = graph.values[from.inputs[2]].narrow_bits;
  result.node = producer;
  return result;
}

}  // namespace tilewright
