#include "frontends/onnx/nodes/written_node.h"

#include <memory>
#include <utility>

#include "tilegraph/expr/dtype.h"

namespace tilewright {
namespace {

// Opsets by which the operators below are meant.
constexpr int64_t kIdentityOpset = 16, kGatherOpset = 13, kUnsqueezeOpset = 11,
                  kConcatOpset = 13;

}  // namespace

OnnxNode WrittenNode(const OnnxNode& by, std::string op, int64_t opset,
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

Attribute IntAttribute(int64_t value) {
  Attribute attribute;
  attribute.type = Attribute::Type::kInt;
  attribute.i = value;
  return attribute;
}

Attribute IntsAttribute(std::vector<int64_t> values) {
  Attribute attribute;
  attribute.type = Attribute::Type::kInts;
  attribute.ints = std::move(values);
  return attribute;
}

ValueId NewConstant(HostTensor tensor, OnnxGraph& graph) {
  return graph.AddValue("constant",
                        std::make_shared<const HostTensor>(std::move(tensor)));
}

ValueId NewInteger(int64_t value, OnnxGraph& graph) {
  HostTensor tensor(DType::kInt64, {});
  tensor.Set(0, {0, value});
  return NewConstant(std::move(tensor), graph);
}

OnnxNode SameAs(const OnnxNode& by, ValueId from, ValueId to) {
  return WrittenNode(by, "Identity", kIdentityOpset, {from}, to);
}

OnnxNode SliceAt(const OnnxNode& by, ValueId whole, int64_t axis, int64_t place,
                 ValueId slice, OnnxGraph& graph) {
  OnnxNode node = WrittenNode(by, "Gather", kGatherOpset,
                              {whole, NewInteger(place, graph)}, slice);
  node.attributes["axis"] = IntAttribute(axis);
  return node;
}

void StackSlices(const OnnxNode& by, const std::vector<ValueId>& slices,
                 int64_t axis, ValueId output, OnnxGraph& graph,
                 std::vector<OnnxNode>& nodes) {
  OnnxNode all = WrittenNode(by, "Concat", kConcatOpset, {}, output);
  all.attributes["axis"] = IntAttribute(axis);
  for (const ValueId slice : slices) {
    const ValueId part = graph.AddValue(graph.name(slice) + ".slice");
    nodes.push_back(
        WrittenNode(by, "Unsqueeze", kUnsqueezeOpset, {slice}, part));
    nodes.back().attributes["axes"] = IntsAttribute({axis});
    all.inputs.push_back(part);
  }
  nodes.push_back(std::move(all));
}

}  // namespace tilewright
