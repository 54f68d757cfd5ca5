#include "frontends/onnx/graph/subgraph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "frontends/onnx/graph/tensor_proto.h"

namespace tilewright {
namespace {

// Adds the values of `subgraph` to `graph`; returns where each of them is
// there.
std::vector<ValueId> AddValues(const Subgraph& subgraph,
                               const std::vector<ValueId>& inputs,
                               const std::vector<ValueId>& captured,
                               OnnxGraph& graph) {
  const OnnxGraph& inner = subgraph.graph;
  std::map<std::string, ValueId> around;
  for (const ValueId id : captured) around[graph.name(id)] = id;
  std::vector<ValueId> added(inner.values.size(), kNoValue);
  for (size_t i = 0; i < inner.inputs.size(); ++i) {
    const ValueId id = inner.inputs[i];
    added[id] = i < subgraph.own_inputs ? inputs[i] : around.at(inner.name(id));
  }
  for (size_t id = 0; id < inner.values.size(); ++id) {
    if (added[id] != kNoValue) continue;
    added[id] = static_cast<ValueId>(graph.values.size());
    graph.values.push_back(inner.values[id]);
    graph.values.back().producer = -1;
  }
  return added;
}

}  // namespace

absl::StatusOr<InlinedSubgraph> InlineSubgraph(
    const OnnxNode& node, const std::string& name,
    const std::vector<ValueId>& inputs, OnnxGraph& graph) {
  const absl::StatusOr<Subgraph>& subgraph = *node.attributes.at(name).graph;
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(
        graph.Label(node), ", attribute ", Quoted(name), ": ", what));
  };
  if (!subgraph.ok()) return error(subgraph.status().message());
  if (subgraph->own_inputs != inputs.size()) {
    return error(absl::StrCat("the graph has ", subgraph->own_inputs,
                              " inputs where the node gives ", inputs.size(),
                              "; export the model again"));
  }
  if (std::count(inputs.begin(), inputs.end(), kNoValue) > 0)
    return error("an input of the graph is missing; export the model again");
  const std::vector<ValueId> added =
      AddValues(*subgraph, inputs, node.captured, graph);
  InlinedSubgraph result;
  result.nodes = subgraph->graph.nodes;
  for (OnnxNode& each : result.nodes) {
    for (auto* ids : {&each.inputs, &each.outputs, &each.captured}) {
      for (ValueId& id : *ids) {
        if (id != kNoValue) id = added[id];
      }
    }
  }
  for (const ValueId id : subgraph->graph.outputs)
    result.outputs.push_back(added[id]);
  return result;
}

}  // namespace tilewright
