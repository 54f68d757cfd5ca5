// Nodes that take the place of a model's.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_WRITTEN_NODE_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_WRITTEN_NODE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

// An operator as opset `opset` means it, named as `by`.
inline OnnxNode WrittenNode(const OnnxNode& by, std::string op, int64_t opset,
                            std::vector<ValueId> inputs, ValueId output) {
  OnnxNode node;
  node.name = by.name;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.outputs = {output};
  node.is_rewritten = true;
  node.opset = opset;
  return node;
}

inline Attribute IntAttribute(int64_t value) {
  Attribute attribute;
  attribute.type = Attribute::Type::kInt;
  attribute.i = value;
  return attribute;
}

inline Attribute IntsAttribute(std::vector<int64_t> values) {
  Attribute attribute;
  attribute.type = Attribute::Type::kInts;
  attribute.ints = std::move(values);
  return attribute;
}

// A value of the graph that nothing makes yet.
inline ValueId NewValue(std::string name, OnnxGraph& graph) {
  graph.values.emplace_back().name = std::move(name);
  return static_cast<ValueId>(graph.values.size() - 1);
}

// `to` is the same as `from`.
inline OnnxNode SameAs(const OnnxNode& by, ValueId from, ValueId to) {
  return WrittenNode(by, "Identity", 16, {from}, to);
}

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_WRITTEN_NODE_H_
