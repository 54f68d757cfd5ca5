#include "frontends/onnx/graph/known_values.h"

#include <memory>
#include <utility>

namespace tilewright {

const HostTensor* KnownInput(const OnnxGraph& graph, const OnnxNode& node,
                             size_t i) {
  if (i >= node.inputs.size() || node.inputs[i] == kNoValue) return nullptr;
  return graph.values[node.inputs[i]].constant.get();
}

ValueId AddKnown(OnnxGraph& graph, std::vector<ValueInfo>& infos,
                 std::string name, HostTensor tensor) {
  const auto known = std::make_shared<const HostTensor>(std::move(tensor));
  infos.push_back({known->dtype(), known->shape(), known});
  return graph.AddValue(std::move(name), known);
}

}  // namespace tilewright
