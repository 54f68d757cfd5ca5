#include "frontends/onnx/nodes/inline_if.h"

#include <utility>

#include "base/status_macros.h"
#include "frontends/onnx/graph/subgraph.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/nodes/node_errors.h"
#include "frontends/onnx/nodes/written_node.h"

namespace tilewright {
namespace {

constexpr char kThen[] = "then_branch", kElse[] = "else_branch";

// Opsets by which the operators below are meant.
constexpr int64_t kSqueezeOpset = 13, kWhereOpset = 16;

absl::StatusOr<InlinedSubgraph> Branch(const OnnxNode& node, const char* name,
                                       OnnxGraph& graph) {
  TW_ASSIGN_OR_RETURN(InlinedSubgraph branch,
                      InlineSubgraph(node, name, {}, graph));
  if (branch.outputs.size() != node.outputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(graph.Label(node), ": ", name, " has ",
                     branch.outputs.size(), " outputs where the node has ",
                     node.outputs.size(), "; export the model again"));
  }
  return branch;
}

absl::StatusOr<std::vector<OnnxNode>> ChosenBranch(const OnnxNode& node,
                                                   bool condition,
                                                   OnnxGraph& graph) {
  TW_ASSIGN_OR_RETURN(InlinedSubgraph chosen,
                      Branch(node, condition ? kThen : kElse, graph));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    chosen.nodes.push_back(SameAs(node, chosen.outputs[i], node.outputs[i]));
  }
  return std::move(chosen.nodes);
}

absl::StatusOr<std::vector<OnnxNode>> BothBranches(const OnnxNode& node,
                                                   OnnxGraph& graph) {
  OnnxNode choice = node;
  choice.attributes.clear();
  choice.captured.clear();
  choice.is_rewritten = true;
  std::vector<OnnxNode> nodes;
  for (const char* name : {kThen, kElse}) {
    TW_ASSIGN_OR_RETURN(InlinedSubgraph branch, Branch(node, name, graph));
    for (OnnxNode& each : branch.nodes) nodes.push_back(std::move(each));
    choice.inputs.insert(choice.inputs.end(), branch.outputs.begin(),
                         branch.outputs.end());
  }
  nodes.push_back(std::move(choice));
  return nodes;
}

// Both are computed: elements of one of them are taken.
absl::StatusOr<std::vector<OnnxNode>> Choice(
    const OnnxNode& node, const std::vector<ValueInfo>& infos,
    OnnxGraph& graph) {
  std::vector<OnnxNode> nodes;
  ValueId condition = node.inputs[0];
  if (!infos[condition].shape.empty()) {
    const ValueId scalar = graph.AddValue(graph.name(condition) + ".scalar");
    nodes.push_back(
        WrittenNode(node, "Squeeze", kSqueezeOpset, {condition}, scalar));
    condition = scalar;
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId then = node.inputs[1 + i];
    const ValueId otherwise = node.inputs[1 + node.outputs.size() + i];
    const ValueInfo &a = infos[then], &b = infos[otherwise];
    if (a.shape != b.shape || a.dtype != b.dtype ||
        a.narrow_bits != b.narrow_bits) {
      return UnimplementedNode(
          graph, node, "its branches make an output ", i, " of shapes ",
          ShapeText(a.shape), " and ", ShapeText(b.shape),
          a.shape == b.shape ? ", of different types" : "",
          ", and its condition ", Quoted(graph.name(node.inputs[0])),
          " is not known when compiling; if it is an input of the model, give "
          "its value with --bind=NAME=VALUE");
    }
    if (node.outputs[i] == kNoValue) continue;
    nodes.push_back(WrittenNode(node, "Where", kWhereOpset,
                                {condition, then, otherwise}, node.outputs[i]));
  }
  return nodes;
}

}  // namespace

absl::StatusOr<std::vector<OnnxNode>> InlineIf(
    const OnnxNode& node, const std::vector<ValueInfo>& infos,
    OnnxGraph& graph) {
  if (node.is_rewritten) return Choice(node, infos, graph);
  if (node.inputs.size() != 1 || node.inputs[0] == kNoValue) {
    return InvalidNode(graph, node, "has ", node.inputs.size(),
                       " inputs instead of a condition");
  }
  const ValueInfo& condition = infos[node.inputs[0]];
  int64_t elements = 1;
  for (const int64_t extent : condition.shape) elements *= extent;
  if (condition.dtype != DType::kBool || elements != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(graph.Label(node), ": its condition ",
                     Quoted(graph.name(node.inputs[0])),
                     " must be a single bool; export the model again"));
  }
  if (condition.constant == nullptr) return BothBranches(node, graph);
  return ChosenBranch(node, condition.constant->Get(0).i != 0, graph);
}

}  // namespace tilewright
