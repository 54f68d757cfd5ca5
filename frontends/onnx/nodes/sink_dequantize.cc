#include "frontends/onnx/nodes/sink_dequantize.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/graph/known_values.h"
#include "frontends/onnx/nodes/dequantized_operand.h"

namespace tilewright {
namespace {

bool PicksOrMoves(const OnnxNode& node) {
  static const auto* ops = new std::set<std::string>{
      "MaxPool", "Flatten", "Reshape", "Squeeze", "Unsqueeze", "Transpose"};
  return node.domain.empty() && ops->count(node.op) > 0 &&
         node.outputs.size() == 1;
}

}  // namespace

void SinkDequantize(OnnxGraph& graph) {
  std::vector<OnnxNode> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  for (OnnxNode& node : nodes) {
    std::optional<DequantizedOperand> x;
    if (PicksOrMoves(node) && KnownInput(graph, node, 0) == nullptr)
      x = DequantizedInput(graph, node, 0);
    if (!x || !x->one_scale() || !x->of_8_bits()) {
      graph.AppendNode(std::move(node));
      continue;
    }
    OnnxNode back = graph.nodes[x->node];
    back.outputs = node.outputs;
    back.inputs[0] = graph.AddValue(graph.name(node.outputs[0]) + ".q");
    node.inputs[0] = x->value;
    node.outputs = {back.inputs[0]};
    node.is_rewritten = true;
    graph.AppendNode(std::move(node));
    graph.AppendNode(std::move(back));
  }
}

}  // namespace tilewright
