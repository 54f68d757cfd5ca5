#include "frontends/onnx/nodes/find_mish.h"

#include "frontends/onnx/nodes/written_node.h"

namespace tilewright {
namespace {

// The opset that has it first.
constexpr int64_t kMishOpset = 18;

// What the node that makes `value` reads, if it is such an `op`.
ValueId ReadBy(const OnnxGraph& graph, ValueId value, const char* op) {
  const OnnxNode* producer = graph.ProducerOf(value);
  return producer != nullptr && producer->Is(op) ? producer->inputs[0]
                                                 : kNoValue;
}

}  // namespace

void FindMish(OnnxGraph& graph) {
  for (OnnxNode& node : graph.nodes) {
    if (!node.Is("Mul")) continue;
    for (int tanh = 0; tanh < 2; ++tanh) {
      const ValueId x = node.inputs[1 - tanh];
      const ValueId softplus = ReadBy(graph, node.inputs[tanh], "Tanh");
      if (x == kNoValue || ReadBy(graph, softplus, "Softplus") != x) continue;
      node = WrittenNode(node, "Mish", kMishOpset, {x}, node.outputs[0]);
      break;
    }
  }
}

}  // namespace tilewright
