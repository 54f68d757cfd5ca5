#include "frontends/onnx/graph/subgraph.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/captured_names.h"
#include "frontends/onnx/graph/tensor_proto.h"

namespace tilewright {
namespace {

// The subgraph as a model, which what it captures are inputs of.
onnx::ModelProto ModelOf(const onnx::GraphProto& subgraph,
                         const OnnxGraph& around) {
  onnx::ModelProto model;
  for (const auto& [domain, version] : around.opsets) {
    onnx::OperatorSetIdProto& opset = *model.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  }
  *model.mutable_graph() = subgraph;
  for (const std::string& name : CapturedNames(subgraph))
    model.mutable_graph()->add_input()->set_name(name);
  return model;
}

// Moves the values of `inner` to `graph`; returns where each of them is there.
// Its first inputs are `inputs`, the others have their names there.
std::vector<ValueId> MoveValues(OnnxGraph& inner,
                                const std::vector<ValueId>& inputs,
                                const std::vector<ValueId>& captured,
                                OnnxGraph& graph) {
  std::map<std::string, ValueId> around;
  for (const ValueId id : captured) around[graph.name(id)] = id;
  std::vector<ValueId> moved(inner.values.size(), kNoValue);
  for (size_t i = 0; i < inner.inputs.size(); ++i) {
    const ValueId id = inner.inputs[i];
    moved[id] = i < inputs.size() ? inputs[i] : around.at(inner.name(id));
  }
  for (size_t id = 0; id < inner.values.size(); ++id) {
    if (moved[id] != kNoValue) continue;
    moved[id] = static_cast<ValueId>(graph.values.size());
    graph.values.push_back(std::move(inner.values[id]));
    graph.values.back().producer = -1;
  }
  return moved;
}

}  // namespace

absl::StatusOr<InlinedSubgraph> InlineSubgraph(
    const OnnxNode& node, const std::string& name,
    const std::vector<ValueId>& inputs, OnnxGraph& graph) {
  const onnx::GraphProto& subgraph = *node.attributes.at(name).graph;
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(
        graph.Label(node), ", attribute ", Quoted(name), ": ", what));
  };
  absl::StatusOr<OnnxGraph> inner = BuildOnnxGraph(ModelOf(subgraph, graph));
  if (!inner.ok()) return error(inner.status().message());
  const size_t captured = CapturedNames(subgraph).size();
  if (inner->inputs.size() != inputs.size() + captured) {
    return error(absl::StrCat("the graph has ", inner->inputs.size() - captured,
                              " inputs where the node gives ", inputs.size(),
                              "; export the model again"));
  }
  RemoveDeadNodes(*inner);
  const std::vector<ValueId> moved =
      MoveValues(*inner, inputs, node.captured, graph);
  InlinedSubgraph result;
  for (OnnxNode& each : inner->nodes) {
    for (auto* ids : {&each.inputs, &each.outputs, &each.captured}) {
      for (ValueId& id : *ids) {
        if (id != kNoValue) id = moved[id];
      }
    }
    result.nodes.push_back(std::move(each));
  }
  for (const ValueId id : inner->outputs) result.outputs.push_back(moved[id]);
  return result;
}

}  // namespace tilewright
