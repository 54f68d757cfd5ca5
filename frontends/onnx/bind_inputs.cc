#include "frontends/onnx/bind_inputs.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"

namespace tilewright {
namespace {

// Errors of dimensions, gathered over all inputs.
struct OpenDims {
  std::vector<std::string> where;
  std::set<std::string> flags;
  std::set<std::string> names;  // of all dynamic dimensions of the model
};

absl::Status TypeOf(const OnnxGraph& graph, ValueId id,
                    const ImportOptions& options, OpenDims& open,
                    ValueInfo& info) {
  const std::string& name = graph.name(id);
  const auto& declared = graph.values[id].declared;
  if (!declared.has_value() || !declared->is_tensor) {
    return absl::UnimplementedError(
        absl::StrCat("input ", Quoted(name),
                     " is no tensor, which is not supported; export the model "
                     "with tensor inputs only"));
  }
  const std::optional<ElementType> type = ElementTypeOf(declared->element_type);
  if (!type.has_value()) {
    return absl::UnimplementedError(absl::StrCat(
        "input ", Quoted(name), " has element type ",
        OnnxTypeName(declared->element_type),
        ", which is not supported; export the model with another"));
  }
  if (!declared->shape.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", Quoted(name),
                     " has no shape, not even a rank; export the model with "
                     "one"));
  }
  info.dtype = type->dtype;
  info.narrow_bits = type->narrow_bits;
  info.shape.clear();
  for (size_t d = 0; d < declared->shape->size(); ++d) {
    const DeclaredDim& dim = (*declared->shape)[d];
    if (dim.value.has_value()) {
      if (*dim.value < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("input ", Quoted(name), " has dimension ", *dim.value,
                         "; export the model again"));
      }
      info.shape.push_back(*dim.value);
      continue;
    }
    const std::string known =
        dim.name.empty() ? absl::StrCat(name, ".", d) : dim.name;
    open.names.insert(known);
    const auto at = options.dims.find(known);
    if (at != options.dims.end()) {
      info.shape.push_back(at->second);
      continue;
    }
    open.where.push_back(
        absl::StrCat(Quoted(known), " of input ", Quoted(name)));
    open.flags.insert(absl::StrCat("--dim=", Escaped(known), "=VALUE"));
    info.shape.push_back(1);
  }
  return absl::OkStatus();
}

absl::Status CheckDims(const OpenDims& open, const ImportOptions& options) {
  for (const auto& [name, value] : options.dims) {
    if (open.names.count(name) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dim=", Escaped(name), "=", value,
          " names no dynamic dimension of the model; it has ",
          open.names.empty() ? std::string("none")
                             : Escaped(absl::StrJoin(open.names, ", "))));
    }
    if (value < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dim=", Escaped(name), "=", value, ": a dimension is at least 1"));
    }
  }
  if (open.where.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      open.where.size() == 1 ? "dimension " : "dimensions ",
      absl::StrJoin(open.where, ", "),
      open.where.size() == 1 ? " has no value; give it one with "
                             : " have no value; give them one with ",
      absl::StrJoin(open.flags, " ")));
}

absl::StatusOr<HostTensor> ParseNumbers(const std::string& name,
                                        const std::string& text,
                                        const ValueInfo& info) {
  const auto complain = [&](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("--bind=", Escaped(name), "=", Escaped(text), ": ", what,
                     " (the input is ", DTypeText(info.dtype), " ",
                     ShapeText(info.shape), ")"));
  };
  HostTensor tensor(info.dtype, info.shape);
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  const int64_t count = tensor.num_elements();
  if (parts.size() != 1 && static_cast<int64_t>(parts.size()) != count) {
    return complain(absl::StrCat("there are ", parts.size(), " values for ",
                                 count, " elements"));
  }
  for (int64_t i = 0; i < count; ++i) {
    const std::string& part = parts[parts.size() == 1 ? 0 : i];
    Scalar value;
    bool flag = false;
    const bool ok = IsFloat(info.dtype) ? absl::SimpleAtod(part, &value.f)
                    : info.dtype == DType::kBool
                        ? absl::SimpleAtob(part, &flag)
                        : absl::SimpleAtoi(part, &value.i);
    if (!ok) return complain(absl::StrCat(Quoted(part), " is no such value"));
    if (info.dtype == DType::kBool) value.i = flag ? 1 : 0;
    tensor.Set(i, value);
    if (IsInteger(info.dtype) && tensor.Get(i).i != value.i) {
      return complain(absl::StrCat(Quoted(part), " is out of range"));
    }
  }
  return tensor;
}

absl::StatusOr<HostTensor> ValueOf(const std::string& name,
                                   const ImportOptions& options,
                                   const ValueInfo& info) {
  const auto text = options.bind_text.find(name);
  if (text != options.bind_text.end()) {
    TW_ASSIGN_OR_RETURN(const int64_t bytes,
                        TensorBytes(info.dtype, info.shape));
    if (bytes > options.max_folded_bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("--bind=", Escaped(name), ": input ", Quoted(name),
                       " has ", bytes, " bytes; give a file instead"));
    }
    return ParseNumbers(name, text->second, info);
  }
  const HostTensor& tensor = options.bind_tensors.at(name);
  if (tensor.dtype() != info.dtype || tensor.shape() != info.shape) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--bind=", Escaped(name), ": the value is ", DTypeText(tensor.dtype()),
        " ", ShapeText(tensor.shape()), " but the input is ",
        DTypeText(info.dtype), " ", ShapeText(info.shape)));
  }
  return tensor;
}

}  // namespace

absl::Status BindInputs(OnnxGraph& graph, const ImportOptions& options,
                        std::vector<ValueInfo>& infos) {
  std::set<std::string> bound;
  for (const auto& [name, text] : options.bind_text) bound.insert(name);
  for (const auto& [name, value] : options.bind_tensors) bound.insert(name);
  std::set<std::string> inputs;
  for (const ValueId id : graph.inputs) inputs.insert(graph.name(id));
  for (const std::string& name : bound) {
    if (inputs.count(name) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--bind=", Escaped(name), "=... names no input of the model; it has ",
          Escaped(absl::StrJoin(inputs, ", "))));
    }
  }
  OpenDims open;
  for (const ValueId id : graph.inputs) {
    // A file that is bound says all dimensions by itself.
    const auto tensor = options.bind_tensors.find(graph.name(id));
    OpenDims ignored;
    TW_RETURN_IF_ERROR(TypeOf(
        graph, id, options,
        tensor == options.bind_tensors.end() ? open : ignored, infos[id]));
    if (tensor == options.bind_tensors.end()) continue;
    const auto& shape = *graph.values[id].declared->shape;
    const Shape& given = tensor->second.shape();
    for (size_t d = 0; d < shape.size() && d < given.size(); ++d) {
      if (!shape[d].value.has_value()) infos[id].shape[d] = given[d];
    }
  }
  TW_RETURN_IF_ERROR(CheckDims(open, options));
  std::vector<ValueId> left;
  for (const ValueId id : graph.inputs) {
    if (bound.count(graph.name(id)) == 0) {
      left.push_back(id);
      continue;
    }
    TW_ASSIGN_OR_RETURN(HostTensor value,
                        ValueOf(graph.name(id), options, infos[id]));
    infos[id].constant = std::make_shared<const HostTensor>(std::move(value));
    graph.values[id].constant = infos[id].constant;
  }
  graph.inputs = std::move(left);
  return absl::OkStatus();
}

}  // namespace tilewright
