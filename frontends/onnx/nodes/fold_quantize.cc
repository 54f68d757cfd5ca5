#include "frontends/onnx/nodes/fold_quantize.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "frontends/onnx/graph/known_values.h"
#include "frontends/onnx/nodes/quantize_grid.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {
namespace {

// The integers that the node makes; null if it is no QuantizeLinear of
// constants to 8 bits, or a form that is left as it is.
std::shared_ptr<HostTensor> Quantized(const OnnxGraph& graph,
                                      const OnnxNode& node) {
  if (!node.Is("QuantizeLinear") || node.Int("block_size", 0) != 0)
    return nullptr;
  const HostTensor* x = KnownInput(graph, node, 0);
  const HostTensor* scales = KnownInput(graph, node, 1);
  const HostTensor* zeros = KnownInput(graph, node, 2);
  if (x == nullptr || scales == nullptr || zeros == nullptr ||
      x->dtype() != DType::kFloat32 || scales->dtype() != DType::kFloat32 ||
      !Is8Bit(zeros->dtype()) ||
      graph.values[node.inputs[2]].narrow_bits != 0 ||
      scales->num_elements() != zeros->num_elements())
    return nullptr;
  const std::vector<int64_t>& shape = x->shape();
  int64_t steps = scales->num_elements(), inner = x->num_elements();
  if (steps != 1) {
    const auto rank = static_cast<int64_t>(shape.size());
    int64_t axis = node.Int("axis", 1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || shape[axis] != steps) return nullptr;
    inner = 1;
    for (int64_t d = axis + 1; d < rank; ++d) inner *= shape[d];
  }
  auto result = std::make_shared<HostTensor>(zeros->dtype(), shape);
  for (int64_t i = 0; i < x->num_elements(); ++i) {
    const int64_t step = i / inner % steps;
    const QuantizeGrid grid(static_cast<float>(scales->Get(step).f),
                            zeros->Get(step).i, zeros->dtype());
    const float whole =
        grid.Rounded(static_cast<float>(x->Get(i).f) / grid.scale);
    if (std::isnan(whole)) return nullptr;
    result->Set(i, Scalar{0, static_cast<int64_t>(whole)});
  }
  return result;
}

}  // namespace

void FoldQuantize(OnnxGraph& graph) {
  std::vector<OnnxNode> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  for (OnnxNode& node : nodes) {
    if (std::shared_ptr<HostTensor> whole = Quantized(graph, node)) {
      OnnxValue& value = graph.values[node.outputs[0]];
      value.producer = -1;
      value.constant = std::move(whole);
    } else {
      graph.AppendNode(std::move(node));
    }
  }
}

}  // namespace tilewright
