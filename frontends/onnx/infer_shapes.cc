#include "frontends/onnx/infer_shapes.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "frontends/onnx/bind_inputs.h"
#include "frontends/onnx/fold_constants.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/nodes/inline_if.h"
#include "frontends/onnx/nodes/sequences.h"
#include "frontends/onnx/nodes/unroll_loops.h"
#include "frontends/onnx/nodes/written_node.h"
#include "frontends/onnx/schema/check_attributes.h"
#include "frontends/onnx/schema/check_types.h"

namespace tilewright {
namespace {

constexpr size_t kMostDims = 32;

absl::Status CheckInputs(const OpContext& op, const OpDef& def) {
  for (int i = 0; i < def.min_inputs; ++i) {
    if (!op.has_input(i)) {
      return op.Error("input ", i, " is missing (", def.min_inputs,
                      " are needed); export the model again");
    }
  }
  if (op.num_inputs() > def.max_inputs) {
    return op.Error("there are ", op.num_inputs(), " inputs where opset ",
                    op.opset(), " knows at most ", def.max_inputs,
                    "; export the model again");
  }
  return absl::OkStatus();
}

std::string DeclaredText(const std::vector<DeclaredDim>& dims) {
  std::vector<std::string> parts;
  for (const DeclaredDim& dim : dims) {
    parts.push_back(dim.value.has_value() ? absl::StrCat(*dim.value)
                    : dim.name.empty()    ? "?"
                                          : Escaped(dim.name));
  }
  return absl::StrCat("[", absl::StrJoin(parts, ", "), "]");
}

bool IsType(int declared, DType dtype, int narrow_bits) {
  const std::optional<ElementType> type = ElementTypeOf(declared);
  return type.has_value() && type->dtype == dtype &&
         type->narrow_bits == narrow_bits;
}

bool Fits(const std::vector<DeclaredDim>& declared, const Shape& shape) {
  bool fits = declared.size() == shape.size();
  for (size_t d = 0; fits && d < shape.size(); ++d) {
    const auto& dim = declared[d].value;
    fits = !dim.has_value() || *dim == shape[d];
  }
  return fits;
}

// The same of an initializer, which may be declared as an input too.
absl::Status CheckInitializer(const OnnxValue& value) {
  if (!value.declared.has_value()) return absl::OkStatus();
  const DeclaredType& declared = *value.declared;
  const HostTensor& tensor = *value.constant;
  const bool same_type =
      declared.element_type == 0 ||
      IsType(declared.element_type, tensor.dtype(), value.narrow_bits);
  if (declared.is_tensor && same_type &&
      (!declared.shape.has_value() || Fits(*declared.shape, tensor.shape()))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "initializer ", Quoted(value.name), " is ", DTypeText(tensor.dtype()),
      " ", ShapeText(tensor.shape()), " but the model declares ",
      OnnxTypeName(declared.element_type), " ",
      declared.shape.has_value() ? DeclaredText(*declared.shape) : "",
      "; export it again"));
}

// The declared type and shape of a value must not contradict the inferred ones.
absl::Status CheckDeclared(const OpContext& op, const OnnxValue& value,
                           const ValueInfo& info) {
  if (!value.declared.has_value()) return absl::OkStatus();
  const DeclaredType& declared = *value.declared;
  if (!declared.is_tensor) {
    return op.Error("value ", Quoted(value.name),
                    " is declared as something else than a tensor");
  }
  if (declared.element_type != 0 &&
      !IsType(declared.element_type, info.dtype, info.narrow_bits)) {
    return op.Error("value ", Quoted(value.name), " is ", DTypeText(info.dtype),
                    " but the model declares ",
                    OnnxTypeName(declared.element_type), "; export it again");
  }
  if (!declared.shape.has_value() || Fits(*declared.shape, info.shape))
    return absl::OkStatus();
  return op.Error("value ", Quoted(value.name), " has shape ",
                  ShapeText(info.shape), " but the model declares ",
                  DeclaredText(*declared.shape), "; export it again");
}

absl::Status CheckSize(const OpContext& op, const ValueInfo& info) {
  const absl::StatusOr<int64_t> bytes = TensorBytes(info.dtype, info.shape);
  if (!bytes.ok()) return op.Error(bytes.status().message());
  if (info.shape.size() > kMostDims) {
    return op.Error("a result has ", info.shape.size(),
                    " dimensions, more than ", kMostDims);
  }
  return absl::OkStatus();
}

// Operators whose further inputs are lists, which may be empty.
bool TakesLists(const std::string& op) {
  static constexpr absl::string_view kOps[] = {
      "Concat", "Expand",  "Pad",  "Reshape",   "Resize",  "Slice",
      "Split",  "Squeeze", "Tile", "Unsqueeze", "Upsample"};
  return absl::StartsWith(op, "Reduce") ||
         std::count(std::begin(kOps), std::end(kOps), op) > 0;
}

// Whether a constant without elements may be input `i`: it is a list, or only
// its type matters.
bool MayBeEmpty(const OpContext& op, int i) {
  if (op.input(i).constant == nullptr) return false;
  return TakesLists(op.node().op) || (op.node().op == "CastLike" && i == 1);
}

// Computes work on elements; a tensor without any only passes through those
// that are known.
absl::Status CheckNotEmpty(const OpContext& op, const OnnxGraph& graph) {
  const auto empty = [](const Shape& shape) {
    return std::count(shape.begin(), shape.end(), 0) > 0;
  };
  for (int i = 0; i < op.num_inputs(); ++i) {
    if (op.has_input(i) && empty(op.shape(i)) && !MayBeEmpty(op, i)) {
      return op.Unsupported("tensor ", Quoted(graph.name(op.node().inputs[i])),
                            " of shape ", ShapeText(op.shape(i)),
                            " without elements");
    }
  }
  if (op.has_input(0) && empty(op.shape(0)) && op.node().op != "Concat") {
    return op.Unsupported("an input of shape ", ShapeText(op.shape(0)),
                          " without elements");
  }
  for (int i = 0; i < op.num_outputs(); ++i) {
    if (op.has_output(i) && empty(op.output(i).shape)) {
      return op.Unsupported("a result of shape ", ShapeText(op.output(i).shape),
                            " without elements");
    }
  }
  return absl::OkStatus();
}

class Inference {
 public:
  Inference(OnnxGraph& graph, const OpTable& table,
            const ImportOptions& options)
      : graph_(graph), table_(table), options_(options), folder_(options) {}

  absl::StatusOr<std::vector<ValueInfo>> Run() {
    TW_RETURN_IF_ERROR(AddNewValues());
    TW_RETURN_IF_ERROR(BindInputs(graph_, options_, infos_));
    for (const ValueId id : graph_.inputs) TW_RETURN_IF_ERROR(CheckInput(id));
    std::deque<OnnxNode> nodes(std::make_move_iterator(graph_.nodes.begin()),
                               std::make_move_iterator(graph_.nodes.end()));
    while (!nodes.empty()) {
      OnnxNode node = std::move(nodes.front());
      nodes.pop_front();
      if (!node.IsControlFlow() && !sequences_.Handles(node)) {
        TW_RETURN_IF_ERROR(Infer(std::move(node)));
        continue;
      }
      TW_ASSIGN_OR_RETURN(std::vector<OnnxNode> inlined, Inlined(node));
      nodes.insert(nodes.begin(), std::make_move_iterator(inlined.begin()),
                   std::make_move_iterator(inlined.end()));
    }
    graph_.nodes = std::move(left_);
    for (const ValueId id : graph_.outputs) {
      if (sequences_.IsSequence(id))
        return absl::UnimplementedError(
            absl::StrCat("output ", Quoted(graph_.name(id)),
                         " is a sequence, which is not supported; export its "
                         "tensors"));
    }
    return std::move(infos_);
  }

 private:
  // Infos of the graph's values that have none yet: constants are known.
  absl::Status AddNewValues() {
    for (size_t id = infos_.size(); id < graph_.values.size(); ++id) {
      infos_.emplace_back();
      const OnnxValue& value = graph_.values[id];
      if (value.constant == nullptr) continue;
      const HostTensor& constant = *value.constant;
      infos_[id] = {constant.dtype(), constant.shape(), value.constant,
                    value.narrow_bits};
      if (constant.shape().size() > kMostDims) {
        return absl::UnimplementedError(absl::StrCat(
            "tensor ", Quoted(value.name), " has ", constant.shape().size(),
            " dimensions, more than ", kMostDims));
      }
      TW_RETURN_IF_ERROR(CheckInitializer(value));
    }
    return absl::OkStatus();
  }

  absl::Status CheckInput(ValueId id) const {
    const ValueInfo& info = infos_[id];
    const absl::StatusOr<int64_t> bytes = TensorBytes(info.dtype, info.shape);
    const bool too_large = !bytes.ok() || info.shape.size() > kMostDims;
    if (!too_large && *bytes > 0) return absl::OkStatus();
    return absl::UnimplementedError(absl::StrCat(
        "input ", Quoted(graph_.name(id)), " has shape ", ShapeText(info.shape),
        ", which is ", too_large ? "too large" : "without elements",
        "; export the model with another"));
  }

  // What takes the place of a node of control flow or sequences.
  absl::StatusOr<std::vector<OnnxNode>> Inlined(const OnnxNode& node) {
    TW_ASSIGN_OR_RETURN(std::vector<OnnxNode> inlined,
                        node.Is("If")     ? InlineIf(node, infos_, graph_)
                        : node.Is("Loop") ? UnrollLoop(node, infos_, graph_)
                        : node.Is("Scan")
                            ? UnrollScan(node, infos_, graph_)
                            : sequences_.Replace(node, infos_, graph_));
    TW_RETURN_IF_ERROR(AddNewValues());
    // A sequence is made by no node that is left.
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) graph_.values[id].producer = -1;
    }
    inlined_nodes_ += static_cast<int64_t>(inlined.size());
    if (inlined_nodes_ > kMostUnrolled) {
      return absl::UnimplementedError(
          absl::StrCat(graph_.Label(node), ": the model's loops are more than ",
                       kMostUnrolled, " nodes, too many to compile"));
    }
    for (const OnnxNode& each : inlined) {
      const bool known =
          each.IsControlFlow() || each.IsOfSequences() ||
          table_.Find(each.domain, each.op, graph_.opset()) != nullptr;
      if (known && !each.is_rewritten)
        TW_RETURN_IF_ERROR(CheckAttributes(graph_, each));
    }
    return inlined;
  }

  absl::Status Infer(OnnxNode node) {
    std::vector<const ValueInfo*> inputs;
    for (const ValueId id : node.inputs)
      inputs.push_back(id == kNoValue ? nullptr : &infos_[id]);
    const int64_t opset = graph_.OpsetOf(node);
    OpContext op(graph_, node, opset, std::move(inputs));
    const OpDef* def = table_.Find(node.domain, node.op, opset);
    if (def == nullptr) return op.Unsupported("the operator");
    if (std::any_of(node.inputs.begin(), node.inputs.end(),
                    [&](ValueId id) { return sequences_.IsSequence(id); }))
      return op.Unsupported("a sequence as an input");
    TW_RETURN_IF_ERROR(CheckInputs(op, *def));
    if (!node.is_rewritten) TW_RETURN_IF_ERROR(CheckTypes(op));
    TW_RETURN_IF_ERROR(def->infer(op));
    TW_RETURN_IF_ERROR(op.status());
    TW_RETURN_IF_ERROR(PassNarrowTypes(op));
    bool folded = op.num_outputs() > 0 && op.output(0).constant != nullptr;
    TW_RETURN_IF_ERROR(CheckOutputs(op));
    if (!folded) {
      TW_ASSIGN_OR_RETURN(folded, folder_.Fold(op, *def));
    }
    if (!folded) TW_RETURN_IF_ERROR(CheckNotEmpty(op, graph_));
    for (int i = 0; i < op.num_outputs(); ++i) {
      if (!op.has_output(i)) continue;
      const ValueId id = node.outputs[i];
      infos_[id] = op.output(i);
      if (folded) graph_.values[id].constant = op.output(i).constant;
      graph_.values[id].producer = folded ? -1 : static_cast<int>(left_.size());
    }
    if (!folded) left_.push_back(std::move(node));
    return absl::OkStatus();
  }

  absl::Status CheckOutputs(const OpContext& op) const {
    for (int i = 0; i < op.num_outputs(); ++i) {
      if (!op.has_output(i)) continue;
      if (!op.is_output_set(i))
        return op.Error("the operator has no output ", i);
      TW_RETURN_IF_ERROR(CheckSize(op, op.output(i)));
      TW_RETURN_IF_ERROR(
          CheckDeclared(op, graph_.values[op.node().outputs[i]], op.output(i)));
    }
    return absl::OkStatus();
  }

  OnnxGraph& graph_;
  const OpTable& table_;
  const ImportOptions& options_;
  Folder folder_;
  std::vector<ValueInfo> infos_;  // by value
  std::vector<OnnxNode> left_;    // that were not folded
  Sequences sequences_;
  int64_t inlined_nodes_ = 0;  // of graphs in attributes
};

}  // namespace

absl::StatusOr<std::vector<ValueInfo>> InferShapes(
    OnnxGraph& graph, const OpTable& table, const ImportOptions& options) {
  return Inference(graph, table, options).Run();
}

}  // namespace tilewright
