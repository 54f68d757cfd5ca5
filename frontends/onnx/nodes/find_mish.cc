#include "frontends/onnx/nodes/find_mish.h"

#include <utility>

namespace tilewright {
namespace {

// The opset that has it first.
constexpr int64_t kMishOpset = 18;

// What the node that makes `value` reads, if it is such an `op`.
ValueId ReadBy(const OnnxGraph& graph, ValueId value, const char* op) {
  if (value == kNoValue) return kNoValue;
  const int producer = graph.values[value].producer;
  return producer >= 0 && graph.nodes[producer].Is(op)
             ? graph.nodes[producer].inputs[0]
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
      OnnxNode mish;
      mish.name = node.name;
      mish.op = "Mish";
      mish.inputs = {x};
      mish.outputs = node.outputs;
      mish.is_rewritten = true;
      mish.opset = kMishOpset;
      node = std::move(mish);
      break;
    }
  }
}

}  // namespace tilewright
