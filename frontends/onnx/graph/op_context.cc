#include "frontends/onnx/graph/op_context.h"

#include <algorithm>

#include "base/check.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "tilegraph/expr/new_tensor.h"

namespace tilewright {

OpContext::OpContext(const OnnxGraph& graph, const OnnxNode& node,
                     int64_t opset, std::vector<const ValueInfo*> inputs)
    : graph_(graph),
      node_(node),
      opset_(opset),
      inputs_(std::move(inputs)),
      outputs_(node.outputs.size()),
      is_set_(node.outputs.size(), false) {}

const ValueInfo& OpContext::input(int i) const {
  TW_CHECK(has_input(i)) << "input " << i << " of " << graph_.Label(node_);
  return *inputs_[i];
}

const OnnxNode* OpContext::Producer(int i) const {
  return graph_.ProducerOf(node_.inputs[i]);
}

absl::Status OpContext::ErrorText(const std::string& text) const {
  return absl::InvalidArgumentError(
      absl::StrCat(graph_.Label(node_), ": ", text,
                   text.find("; ") == std::string::npos
                       ? "; fix the model and export it again"
                       : ""));
}

absl::Status OpContext::UnsupportedText(const std::string& text) const {
  return absl::UnimplementedError(
      absl::StrCat(graph_.Label(node_), ": ", text,
                   " is not supported; export the model without it"));
}

absl::StatusOr<HostTensor> OpContext::NewTensor(DType dtype,
                                                Shape shape) const {
  return tilewright::NewTensor(
      dtype, std::move(shape),
      absl::StrCat("a table of ", graph_.Label(node_)));
}

const Attribute* OpContext::Find(absl::string_view name, Attribute::Type type,
                                 absl::string_view type_name) const {
  const auto at = node_.attributes.find(name);
  if (at == node_.attributes.end()) return nullptr;
  if (at->second.type != type) {
    if (status_.ok()) {
      status_ = Error("attribute '", name, "' must be ", type_name,
                      "; export the model again");
    }
    return nullptr;
  }
  return &at->second;
}

bool OpContext::HasAttribute(absl::string_view name) const {
  return node_.attributes.count(name) > 0;
}

int64_t OpContext::Int(absl::string_view name, int64_t otherwise) const {
  const Attribute* found = Find(name, Attribute::Type::kInt, "an integer");
  return found == nullptr ? otherwise : found->i;
}

float OpContext::Float(absl::string_view name, float otherwise) const {
  const Attribute* found = Find(name, Attribute::Type::kFloat, "a float");
  return found == nullptr ? otherwise : found->f;
}

std::string OpContext::String(absl::string_view name,
                              absl::string_view otherwise) const {
  const Attribute* found = Find(name, Attribute::Type::kString, "a string");
  return found == nullptr ? std::string(otherwise) : found->s;
}

std::vector<int64_t> OpContext::Ints(absl::string_view name,
                                     std::vector<int64_t> otherwise) const {
  const Attribute* found =
      Find(name, Attribute::Type::kInts, "a list of integers");
  return found == nullptr ? std::move(otherwise) : found->ints;
}

std::vector<float> OpContext::Floats(absl::string_view name) const {
  const Attribute* found =
      Find(name, Attribute::Type::kFloats, "a list of floats");
  return found == nullptr ? std::vector<float>() : found->floats;
}

std::vector<std::string> OpContext::Strings(absl::string_view name) const {
  const Attribute* found =
      Find(name, Attribute::Type::kStrings, "a list of strings");
  return found == nullptr ? std::vector<std::string>() : found->strings;
}

std::shared_ptr<const HostTensor> OpContext::Tensor(
    absl::string_view name) const {
  const Attribute* found = Find(name, Attribute::Type::kTensor, "a tensor");
  return found == nullptr ? nullptr : found->tensor;
}

absl::StatusOr<std::vector<int64_t>> OpContext::ConstInts(int i) const {
  const ValueInfo& value = input(i);
  if (!IsInteger(value.dtype)) {
    return Error("input ", Quoted(graph_.name(node_.inputs[i])),
                 " must hold integers but is ", DTypeText(value.dtype));
  }
  if (value.constant == nullptr) return NotConstant(i);
  std::vector<int64_t> values(value.constant->num_elements());
  for (size_t k = 0; k < values.size(); ++k) {
    values[k] = value.constant->Get(static_cast<int64_t>(k)).i;
  }
  return values;
}

absl::Status OpContext::NotConstant(int i) const {
  return absl::UnimplementedError(absl::StrCat(
      graph_.Label(node_), ": input ", Quoted(graph_.name(node_.inputs[i])),
      " decides a shape and must be known when compiling; if it is an input "
      "of the model, give its value with --bind=NAME=VALUE"));
}

absl::StatusOr<int> OpContext::Axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    return Error("axis ", axis, " is outside a tensor of rank ", rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<std::vector<int>> OpContext::Axes(
    const std::vector<int64_t>& axes, int rank) const {
  std::vector<int> result;
  for (const int64_t axis : axes) {
    TW_ASSIGN_OR_RETURN(const int at, Axis(axis, rank));
    result.push_back(at);
  }
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
    return Error("the same axis is given twice");
  }
  return result;
}

void OpContext::SetOutput(int i, DType dtype, Shape shape, int narrow_bits) {
  if (i >= num_outputs()) return;
  outputs_[i] = {dtype, std::move(shape), nullptr, narrow_bits};
  is_set_[i] = true;
}

}  // namespace tilewright
