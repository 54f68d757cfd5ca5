#include "frontends/onnx/fold_constants.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "frontends/onnx/copied_elements.h"
#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/schema/check_sizes.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright {
namespace {

absl::StatusOr<HostTensor> Filled(const OpContext& op, DType dtype,
                                  const Shape& shape, Scalar value) {
  TW_ASSIGN_OR_RETURN(HostTensor tensor, op.NewTensor(dtype, shape));
  if (tensor.num_elements() == 0) return tensor;
  tensor.Set(0, value);
  const size_t size = static_cast<size_t>(SizeBytes(dtype));
  const size_t total = static_cast<size_t>(tensor.size_bytes());
  // Doubles what is filled.
  for (size_t done = size; done < total; done *= 2) {
    std::memcpy(tensor.data() + done, tensor.data(),
                std::min(done, total - done));
  }
  return tensor;
}

int64_t WorkOf(const TensorGraph& graph) {
  int64_t work = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    double terms = static_cast<double>(tensor.num_elements());
    for (const Axis& axis : tensor.compute.reduce_axes) {
      terms *= static_cast<double>(axis.extent.value());
    }
    if (terms > 1e15) return INT64_MAX;
    work += static_cast<int64_t>(terms);
  }
  return work;
}

// By output; null for those that the node leaves out.
using Values = std::vector<std::shared_ptr<const HostTensor>>;

// Bytes of all results; nothing if an input is not constant, or a result larger
// than both `max_bytes` and twice the inputs.
absl::StatusOr<std::optional<int64_t>> BytesOfResults(OpContext& op,
                                                      int64_t max_bytes) {
  int64_t inputs = 0;
  bool empty_input = false;
  for (int i = 0; i < op.num_inputs(); ++i) {
    if (!op.has_input(i)) continue;
    if (op.input(i).constant == nullptr) return std::nullopt;
    inputs += op.input(i).constant->size_bytes();
    empty_input |= op.input(i).constant->num_elements() == 0;
  }
  int64_t results = 0;
  for (const ValueInfo& output : op.outputs()) {
    TW_ASSIGN_OR_RETURN(const int64_t bytes,
                        TensorBytes(output.dtype, output.shape));
    if (bytes > std::max(max_bytes, 2 * inputs)) return std::nullopt;
    results += bytes;
  }
  if (results > 0 && empty_input && op.num_inputs() == 1 &&
      op.node().op != "ConstantOfShape") {
    return std::nullopt;
  }
  return results;
}

// The outputs without elements. False: there are others.
bool FillEmpty(const OpContext& op, Values& values) {
  bool all = true;
  for (int i = 0; i < op.num_outputs(); ++i) {
    if (!op.has_output(i)) continue;
    const ValueInfo& output = op.output(i);
    if (std::count(output.shape.begin(), output.shape.end(), 0) > 0) {
      values[i] = std::make_shared<HostTensor>(output.dtype, output.shape);
    } else {
      all = false;
    }
  }
  return all;
}

// A computed tensor that is a fill or a reshape, or copies elements of
// constants.
absl::StatusOr<std::optional<HostTensor>> Copied(const OpContext& op,
                                                 const TensorGraph& graph,
                                                 const Tensor& tensor,
                                                 const Shape& shape) {
  const Expr& body = tensor.compute.body[0];
  const bool reduces = !tensor.compute.reduce_axes.empty();
  if (!reduces && body.op() == Op::kConst) {
    return Filled(op, tensor.dtype, shape,
                  IsFloat(body.dtype()) ? Scalar{body.float_value(), 0}
                                        : Scalar{0, body.int_value()});
  }
  if (tensor.hint.role() == ComputeRole::kReshape && op.num_outputs() == 1 &&
      tensor.num_elements() == op.input(0).constant->num_elements() &&
      tensor.dtype == op.dtype(0)) {
    TW_ASSIGN_OR_RETURN(HostTensor copy, op.NewTensor(tensor.dtype, shape));
    std::memcpy(copy.data(), op.input(0).constant->data(),
                static_cast<size_t>(copy.size_bytes()));
    return copy;
  }
  return CopiedElements(op, graph, tensor.id);
}

}  // namespace

absl::StatusOr<bool> Folder::Evaluate(const OpContext& op,
                                      const TensorGraph& graph,
                                      absl::Span<const TensorId> outputs,
                                      Values& values) {
  bool interpret = false;
  for (int i = 0; i < op.num_outputs(); ++i) {
    if (!op.has_output(i) || values[i] != nullptr) continue;
    if (outputs[i] < 0) return false;
    const Tensor& tensor = graph.tensor(outputs[i]);
    if (tensor.kind == TensorKind::kConstant) {
      values[i] = tensor.value;
      continue;
    }
    TW_ASSIGN_OR_RETURN(std::optional<HostTensor> copied,
                        Copied(op, graph, tensor, op.output(i).shape));
    if (copied) values[i] = std::make_shared<HostTensor>(*std::move(copied));
    interpret |= values[i] == nullptr;
  }
  if (!interpret) return true;
  const int64_t work = WorkOf(graph);
  if (work > work_left_) return false;
  work_left_ -= work;
  Interpreter::Options options;
  options.round_floats = true;
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Interpreter> interpreter,
                      Interpreter::Create(graph, {}, options));
  for (int i = 0; i < op.num_outputs(); ++i) {
    if (!op.has_output(i) || values[i] != nullptr) continue;
    TW_ASSIGN_OR_RETURN(HostTensor value, interpreter->Evaluate(outputs[i]));
    values[i] = std::make_shared<const HostTensor>(std::move(value));
  }
  return true;
}

absl::StatusOr<bool> Folder::Fold(OpContext& op, const OpDef& def) {
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> bytes,
                      BytesOfResults(op, max_bytes_));
  if (!bytes || *bytes > bytes_left_ || def.import == nullptr) return false;
  Values values(op.num_outputs());
  if (!FillEmpty(op, values)) {
    TensorGraph graph;
    std::map<ValueId, TensorId> tensors;
    ImportContext in(op, graph, [&](ValueId id) {
      const auto [at, is_new] = tensors.try_emplace(id, 0);
      for (int i = 0; is_new && i < op.num_inputs(); ++i) {
        if (op.node().inputs[i] != id) continue;
        at->second = graph.AddConstant(op.value_name(id), op.input(i).constant);
        break;
      }
      return at->second;
    });
    TW_RETURN_IF_ERROR(def.import(in));
    TW_RETURN_IF_ERROR(CheckSizes(op, graph, 0));
    TW_ASSIGN_OR_RETURN(const bool done,
                        Evaluate(op, graph, in.outputs(), values));
    if (!done) return false;
  }
  bytes_left_ -= *bytes;
  for (int i = 0; i < op.num_outputs(); ++i) {
    op.outputs()[i].constant = std::move(values[i]);
  }
  return true;
}

}  // namespace tilewright
