#include "frontends/onnx/nodes/quantize_grid.h"

#include <algorithm>
#include <cmath>

#include "frontends/onnx/graph/known_values.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

QuantizeGrid::QuantizeGrid(float step, int64_t zero_point, DType dtype)
    : scale(step), zero(zero_point), least(LeastOf(dtype)), most(least + 255) {}

float QuantizeGrid::Unbounded(float quotient) const {
  return std::nearbyint(quotient) + static_cast<float>(zero);
}

float QuantizeGrid::Rounded(float quotient) const {
  return std::clamp(Unbounded(quotient), static_cast<float>(least),
                    static_cast<float>(most));
}

int64_t LeastOf(DType dtype) { return dtype == DType::kInt8 ? -128 : 0; }

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
  const float step = static_cast<float>(scale->Get(0).f);
  if (!Is8Bit(zero->dtype()) || !(step > 0) || !std::isfinite(step))
    return std::nullopt;
  return QuantizeGrid(step, zero->Get(0).i, zero->dtype());
}

}  // namespace tilewright
