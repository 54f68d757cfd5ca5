// What is asked of a node, and of its graph.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/tensor_proto.h"

namespace tilewright {

bool OnnxNode::IsOfSequences() const {
  static const auto& operators = *new std::set<std::string>{
      "ConcatFromSequence", "SequenceAt",    "SequenceConstruct",
      "SequenceEmpty",      "SequenceErase", "SequenceInsert",
      "SequenceLength",     "SequenceMap",   "SplitToSequence"};
  return domain.empty() && operators.count(op) > 0;
}

int64_t OnnxNode::Int(absl::string_view attribute, int64_t otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.i;
}

float OnnxNode::Float(absl::string_view attribute, float otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.f;
}

std::vector<int64_t> OnnxNode::Ints(absl::string_view attribute,
                                    std::vector<int64_t> otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() || found->second.ints.empty()
             ? otherwise
             : found->second.ints;
}

const OnnxNode* OnnxGraph::ProducerOf(ValueId value) const {
  const int producer = value == kNoValue ? -1 : values[value].producer;
  return producer < 0 ? nullptr : &nodes[producer];
}

ValueId OnnxGraph::AddValue(std::string value_name,
                            std::shared_ptr<const HostTensor> constant) {
  OnnxValue& value = values.emplace_back();
  value.name = std::move(value_name);
  value.constant = std::move(constant);
  return static_cast<ValueId>(values.size() - 1);
}

void OnnxGraph::AppendNode(OnnxNode node) {
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) values[id].producer = static_cast<int>(nodes.size());
  }
  nodes.push_back(std::move(node));
}

int64_t OnnxGraph::opset() const {
  const auto found = opsets.find("");
  return found == opsets.end() ? 0 : found->second;
}

std::string OnnxGraph::Label(const OnnxNode& node) const {
  if (!node.name.empty()) {
    return absl::StrCat("node ", Quoted(node.name), " (", node.op, ")");
  }
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) {
      return absl::StrCat("node of ", Quoted(name(id)), " (", node.op, ")");
    }
  }
  return absl::StrCat("a node (", node.op, ")");
}

}  // namespace tilewright
