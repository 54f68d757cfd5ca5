// What is asked of a node.
#include <cstdint>
#include <set>
#include <string>

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
