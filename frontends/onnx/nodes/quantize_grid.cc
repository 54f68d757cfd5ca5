#include "frontends/onnx/nodes/quantize_grid.h"

#include <cmath>

#include "frontends/onnx/graph/known_values.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

std::optional<QuantizeGrid> GridOf(const OnnxGraph& graph,
                                   const OnnxNode& node) {
  if (!node.Is("QuantizeLinear")) return std::nullopt;
  const HostTensor* scale = KnownInput(graph, node, 1);
  const HostTensor* zero = KnownInput(graph, node, 2);
  if (scale == nullptr || zero == nullptr ||
      graph.values[node.inputs[2]].narrow_bits != 0 ||
      scale->num_elements() != 1 || zero->num_elements() != 1 ||
      scale->dtype() != DType::kFloat32)
    return std::nullopt;
  const bool is_signed = zero->dtype() == DType::kInt8;
  const float step = static_cast<float>(scale->Get(0).f);
  if ((!is_signed && zero->dtype() != DType::kUInt8) || !(step > 0) ||
      !std::isfinite(step))
    return std::nullopt;
  const int64_t least = is_signed ? -128 : 0;
  return QuantizeGrid{step, zero->Get(0).i, least, least + 255};
}

}  // namespace tilewright
