#include "frontends/onnx/graph/captured_names.h"

namespace tilewright {

std::set<std::string> CapturedNames(const onnx::GraphProto& subgraph) {
  std::set<std::string> used, defined;
  for (const auto& info : subgraph.input()) defined.insert(info.name());
  for (const auto& tensor : subgraph.initializer())
    defined.insert(tensor.name());
  for (const onnx::NodeProto& node : subgraph.node()) {
    used.insert(node.input().begin(), node.input().end());
    defined.insert(node.output().begin(), node.output().end());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) used.merge(CapturedNames(attribute.g()));
    }
  }
  for (const auto& info : subgraph.output()) used.insert(info.name());
  for (const std::string& name : defined) used.erase(name);
  used.erase("");
  return used;
}

}  // namespace tilewright
