// Drops what nothing reads.
#include <algorithm>
#include <utility>
#include <vector>

#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

std::vector<int> CountReaders(const OnnxGraph& graph) {
  std::vector<int> readers(graph.values.size(), 0);
  for (const ValueId id : graph.outputs) ++readers[id];
  for (const OnnxNode& node : graph.nodes) {
    node.ForEachRead([&](ValueId id) { ++readers[id]; });
  }
  return readers;
}

void RemoveDeadNodes(OnnxGraph& graph) {
  std::vector<bool> live(graph.values.size(), false);
  for (const ValueId id : graph.outputs) live[id] = true;
  std::vector<bool> keep(graph.nodes.size(), false);
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const OnnxNode& node = graph.nodes[n];
    keep[n] =
        std::any_of(node.outputs.begin(), node.outputs.end(),
                    [&](ValueId id) { return id != kNoValue && live[id]; });
    if (!keep[n]) continue;
    node.ForEachRead([&](ValueId id) { live[id] = true; });
  }
  for (OnnxValue& value : graph.values) value.producer = -1;
  std::vector<OnnxNode> nodes;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!keep[n]) continue;
    for (const ValueId id : graph.nodes[n].outputs) {
      if (id != kNoValue) {
        graph.values[id].producer = static_cast<int>(nodes.size());
      }
    }
    nodes.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(nodes);
}

void DropUnreadOutputs(OnnxGraph& graph) {
  const std::vector<int> readers = CountReaders(graph);
  for (OnnxNode& node : graph.nodes) {
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      ValueId& id = node.outputs[i];
      if (id == kNoValue || readers[id] > 0) continue;
      graph.values[id].producer = -1;
      id = kNoValue;
    }
  }
}

}  // namespace tilewright
