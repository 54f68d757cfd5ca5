#include "frontends/onnx/nodes/sequences.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "frontends/onnx/graph/subgraph.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/nodes/node_errors.h"
#include "frontends/onnx/nodes/written_node.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {
namespace {

constexpr int64_t kSplitOpset = 13, kConcatOpset = 13;

}  // namespace

struct Sequences::Place {
  const OnnxNode& node;
  const std::vector<ValueInfo>& infos;
  OnnxGraph& graph;

  bool Has(size_t input) const {
    return input < node.inputs.size() && node.inputs[input] != kNoValue;
  }
  ValueId output() const { return node.outputs[0]; }
  template <typename... Parts>
  absl::Status Invalid(const Parts&... parts) const {
    return InvalidNode(graph, node, parts...);
  }
  absl::Status Missing(size_t input) const {
    return Invalid("input ", input, " is missing");
  }

  // A known input of integers.
  absl::StatusOr<std::vector<int64_t>> Integers(size_t input) const {
    const ValueInfo& info = infos[node.inputs[input]];
    const std::string name = Quoted(graph.name(node.inputs[input]));
    if (info.constant == nullptr)
      return UnimplementedNode(graph, node, name,
                               " is not known when compiling");
    if (IsFloat(info.dtype)) return Invalid(name, " must be of integers");
    std::vector<int64_t> values;
    for (int64_t i = 0; i < info.constant->num_elements(); ++i)
      values.push_back(info.constant->Get(i).i);
    return values;
  }

  // Input `input`, a place among `count`, from the end if it is negative.
  absl::StatusOr<size_t> Position(size_t input, size_t count) const {
    TW_ASSIGN_OR_RETURN(const std::vector<int64_t> values, Integers(input));
    const auto most = static_cast<int64_t>(count);
    if (values.size() != 1 || values[0] < -most || values[0] >= most)
      return Invalid("there is no element ", ShapeText(values), " of ", count);
    return static_cast<size_t>(values[0] < 0 ? values[0] + most : values[0]);
  }
};

bool Sequences::Handles(const OnnxNode& node) const {
  return node.IsOfSequences() || (node.Is("Identity") && !node.inputs.empty() &&
                                  IsSequence(node.inputs[0]));
}

absl::StatusOr<std::vector<OnnxNode>> Sequences::Replace(
    const OnnxNode& node, const std::vector<ValueInfo>& infos,
    OnnxGraph& graph) {
  const Place at{node, infos, graph};
  if (node.outputs.empty() || node.outputs[0] == kNoValue)
    return at.Invalid("output 0 is missing");
  if (node.Is("Identity")) {
    elements_[at.output()] = elements_.at(node.inputs[0]);
    return std::vector<OnnxNode>();
  }
  if (node.Is("SequenceEmpty") || node.Is("SequenceConstruct")) {
    elements_[at.output()] = node.inputs;
    return std::vector<OnnxNode>();
  }
  if (!at.Has(0)) return at.Missing(0);
  if (node.Is("SequenceInsert")) return Insert(at);
  if (node.Is("SequenceErase")) return Erase(at);
  if (node.Is("SequenceAt")) return At(at);
  if (node.Is("SequenceLength")) return Length(at);
  if (node.Is("SplitToSequence")) return Split(at);
  if (node.Is("ConcatFromSequence")) return Concatenate(at);
  return Map(at);
}

absl::StatusOr<std::vector<ValueId>> Sequences::ElementsOf(const Place& at,
                                                           size_t input) const {
  if (!at.Has(input)) return at.Missing(input);
  const auto found = elements_.find(at.node.inputs[input]);
  if (found == elements_.end())
    return at.Invalid(Quoted(at.graph.name(at.node.inputs[input])),
                      " is no sequence");
  return found->second;
}

Sequences::Nodes Sequences::Insert(const Place& at) {
  TW_ASSIGN_OR_RETURN(std::vector<ValueId> elements, ElementsOf(at, 0));
  if (!at.Has(1)) return at.Missing(1);
  size_t position = elements.size();
  if (at.Has(2)) {
    TW_ASSIGN_OR_RETURN(const std::vector<int64_t> values, at.Integers(2));
    const auto count = static_cast<int64_t>(elements.size());
    if (values.size() != 1 || values[0] < -count || values[0] > count)
      return at.Invalid("there is no place ", ShapeText(values), " among ",
                        count);
    position =
        static_cast<size_t>(values[0] < 0 ? values[0] + count : values[0]);
  }
  elements.insert(elements.begin() + static_cast<int64_t>(position),
                  at.node.inputs[1]);
  elements_[at.output()] = std::move(elements);
  return std::vector<OnnxNode>();
}

Sequences::Nodes Sequences::Erase(const Place& at) {
  TW_ASSIGN_OR_RETURN(std::vector<ValueId> elements, ElementsOf(at, 0));
  if (elements.empty()) return at.Invalid("the sequence is empty");
  size_t position = elements.size() - 1;
  if (at.Has(1)) {
    TW_ASSIGN_OR_RETURN(position, at.Position(1, elements.size()));
  }
  elements.erase(elements.begin() + static_cast<int64_t>(position));
  elements_[at.output()] = std::move(elements);
  return std::vector<OnnxNode>();
}

Sequences::Nodes Sequences::At(const Place& at) const {
  TW_ASSIGN_OR_RETURN(const std::vector<ValueId> elements, ElementsOf(at, 0));
  if (!at.Has(1)) return at.Missing(1);
  TW_ASSIGN_OR_RETURN(const size_t position, at.Position(1, elements.size()));
  return std::vector<OnnxNode>{
      SameAs(at.node, elements[position], at.output())};
}

Sequences::Nodes Sequences::Length(const Place& at) const {
  TW_ASSIGN_OR_RETURN(const std::vector<ValueId> elements, ElementsOf(at, 0));
  const ValueId length =
      NewInteger(static_cast<int64_t>(elements.size()), at.graph);
  return std::vector<OnnxNode>{SameAs(at.node, length, at.output())};
}

// Without sizes, slices of one, which may lose the axis; one size for all but
// the last; or a list of them.
Sequences::Nodes Sequences::Split(const Place& at) {
  const ValueId whole = at.node.inputs[0];
  const Shape& shape = at.infos[whole].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = at.node.Int("axis", 0);
  if (axis < -rank || axis >= rank)
    return at.Invalid(Quoted(at.graph.name(whole)), " has no axis ", axis);
  if (axis < 0) axis += rank;
  std::vector<int64_t> sizes = {1};
  if (at.Has(1)) {
    TW_ASSIGN_OR_RETURN(sizes, at.Integers(1));
  }
  if (!at.Has(1) || at.infos[at.node.inputs[1]].shape.empty()) {
    const int64_t size = sizes[0];
    if (size < 1) return at.Invalid("cannot split by ", size);
    if (shape[axis] / size > kMostUnrolled)
      return UnimplementedNode(at.graph, at.node, "a sequence of ",
                               shape[axis] / size, " tensors is too long");
    sizes.clear();
    for (int64_t begin = 0; begin < shape[axis]; begin += size)
      sizes.push_back(std::min(size, shape[axis] - begin));
  }
  std::vector<ValueId> elements;
  for (size_t i = 0; i < sizes.size(); ++i)
    elements.push_back(at.graph.AddValue(at.graph.name(whole) + ".part"));
  std::vector<OnnxNode> nodes;
  if (!at.Has(1) && at.node.Int("keepdims", 1) == 0) {
    for (size_t i = 0; i < sizes.size(); ++i)
      nodes.push_back(SliceAt(at.node, whole, axis, static_cast<int64_t>(i),
                              elements[i], at.graph));
  } else {
    HostTensor list(DType::kInt64, {static_cast<int64_t>(sizes.size())});
    for (size_t i = 0; i < sizes.size(); ++i)
      list.Set(static_cast<int64_t>(i), {0, sizes[i]});
    nodes.push_back(WrittenNode(at.node, "Split", kSplitOpset,
                                {whole, NewConstant(std::move(list), at.graph)},
                                -1));
    nodes.back().outputs = elements;
    nodes.back().attributes["axis"] = IntAttribute(axis);
  }
  elements_[at.output()] = std::move(elements);
  return nodes;
}

Sequences::Nodes Sequences::Concatenate(const Place& at) const {
  TW_ASSIGN_OR_RETURN(const std::vector<ValueId> elements, ElementsOf(at, 0));
  if (elements.empty()) return at.Invalid("the sequence is empty");
  const int64_t axis = at.node.Int("axis", 0);
  std::vector<OnnxNode> nodes;
  if (at.node.Int("new_axis", 0) != 0) {
    StackSlices(at.node, elements, axis, at.output(), at.graph, nodes);
  } else {
    nodes.push_back(
        WrittenNode(at.node, "Concat", kConcatOpset, elements, at.output()));
    nodes.back().attributes["axis"] = IntAttribute(axis);
  }
  return nodes;
}

// The body for each element of the first input, and of others that are
// sequences; tensors are the same for all.
Sequences::Nodes Sequences::Map(const Place& at) {
  TW_ASSIGN_OR_RETURN(const std::vector<ValueId> elements, ElementsOf(at, 0));
  std::vector<OnnxNode> nodes;
  std::vector<std::vector<ValueId>> made(at.node.outputs.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    std::vector<ValueId> inputs;
    for (const ValueId input : at.node.inputs) {
      const auto sequence = elements_.find(input);
      if (sequence == elements_.end()) {
        inputs.push_back(input);
      } else if (i < sequence->second.size()) {
        inputs.push_back(sequence->second[i]);
      } else {
        return at.Invalid("its sequences have ", elements.size(), " and ",
                          sequence->second.size(), " elements");
      }
    }
    TW_ASSIGN_OR_RETURN(InlinedSubgraph body,
                        InlineSubgraph(at.node, "body", inputs, at.graph));
    if (body.outputs.size() != made.size())
      return at.Invalid("its body has ", body.outputs.size(),
                        " outputs instead of ", made.size());
    for (OnnxNode& each : body.nodes) nodes.push_back(std::move(each));
    for (size_t o = 0; o < made.size(); ++o) made[o].push_back(body.outputs[o]);
  }
  for (size_t o = 0; o < made.size(); ++o) {
    if (at.node.outputs[o] != kNoValue)
      elements_[at.node.outputs[o]] = std::move(made[o]);
  }
  return nodes;
}

}  // namespace tilewright
