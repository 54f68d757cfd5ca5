#include "frontends/onnx/fold_constants.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
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

// Where one dimension of the source comes from: an axis, or a fixed position.
std::optional<std::vector<int>> PlainIndices(const Expr& load) {
  std::vector<int> axes;
  for (const Expr& index : load.operands()) {
    if (index.op() == Op::kVar) {
      axes.push_back(index.var_id());
    } else if (index.IsIntConst(0)) {
      axes.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  return axes;
}

// A transposition or broadcast, as a strided copy.
absl::StatusOr<HostTensor> Moved(const OpContext& op, const HostTensor& from,
                                 const std::vector<int>& axes,
                                 const Shape& shape) {
  std::vector<int64_t> stride(shape.size(), 0);
  int64_t step = 1;
  for (size_t d = axes.size(); d-- > 0;) {
    if (axes[d] >= 0) stride[axes[d]] += step;
    step *= from.shape()[d];
  }
  TW_ASSIGN_OR_RETURN(HostTensor to, op.NewTensor(from.dtype(), shape));
  const size_t size = static_cast<size_t>(SizeBytes(from.dtype()));
  std::vector<int64_t> at(shape.size(), 0);
  int64_t source = 0;
  for (int64_t i = 0; i < to.num_elements(); ++i) {
    std::memcpy(to.data() + i * size, from.data() + source * size, size);
    for (size_t d = shape.size(); d-- > 0;) {
      source += stride[d];
      if (++at[d] < shape[d]) break;
      source -= stride[d] * shape[d];
      at[d] = 0;
    }
  }
  return to;
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

}  // namespace

absl::StatusOr<bool> Folder::Fold(OpContext& op, const OpDef& def) {
  int64_t inputs = 0;
  bool empty_input = false;
  for (int i = 0; i < op.num_inputs(); ++i) {
    if (!op.has_input(i)) continue;
    if (op.input(i).constant == nullptr) return false;
    inputs += op.input(i).constant->size_bytes();
    empty_input |= op.input(i).constant->num_elements() == 0;
  }
  int64_t result = 0;
  for (const ValueInfo& output : op.outputs()) {
    TW_ASSIGN_OR_RETURN(const int64_t bytes,
                        TensorBytes(output.dtype, output.shape));
    if (bytes > std::max(max_bytes_, 2 * inputs)) return false;
    result += bytes;
  }
  if (result > bytes_left_ || def.import == nullptr) return false;
  if (result > 0 && empty_input && op.num_inputs() == 1 &&
      op.node().op != "ConstantOfShape") {
    return false;
  }

  TensorGraph graph;
  std::map<ValueId, TensorId> tensors;
  ImportContext in(op, graph, [&](ValueId id) {
    const auto [at, is_new] = tensors.try_emplace(id, 0);
    if (is_new) {
      for (int i = 0; i < op.num_inputs(); ++i) {
        if (op.node().inputs[i] != id) continue;
        at->second = graph.AddConstant(op.value_name(id), op.input(i).constant);
        break;
      }
    }
    return at->second;
  });
  std::vector<std::shared_ptr<const HostTensor>> values(op.num_outputs());
  bool all_empty = true;
  for (int i = 0; i < op.num_outputs(); ++i) {
    if (!op.has_output(i)) continue;
    const ValueInfo& output = op.output(i);
    if (std::count(output.shape.begin(), output.shape.end(), 0) > 0) {
      values[i] = std::make_shared<HostTensor>(output.dtype, output.shape);
    } else {
      all_empty = false;
    }
  }
  if (!all_empty) {
    TW_RETURN_IF_ERROR(def.import(in));
    TW_RETURN_IF_ERROR(CheckSizes(op, graph, 0));
    bool interpret = false;
    for (int i = 0; i < op.num_outputs(); ++i) {
      if (!op.has_output(i) || values[i] != nullptr) continue;
      if (in.outputs()[i] < 0) return false;
      const Tensor& tensor = graph.tensor(in.outputs()[i]);
      const Shape& shape = op.output(i).shape;
      if (tensor.kind == TensorKind::kConstant) {
        values[i] = tensor.value;
        continue;
      }
      const Expr& body = tensor.compute.body[0];
      if (tensor.compute.reduce_axes.empty() && body.op() == Op::kConst) {
        const Scalar value = IsFloat(body.dtype())
                                 ? Scalar{body.float_value(), 0}
                                 : Scalar{0, body.int_value()};
        TW_ASSIGN_OR_RETURN(HostTensor filled,
                            Filled(op, tensor.dtype, shape, value));
        values[i] = std::make_shared<HostTensor>(std::move(filled));
        continue;
      }
      if (tensor.hint.role() == ComputeRole::kReshape &&
          op.num_outputs() == 1 &&
          tensor.num_elements() == op.input(0).constant->num_elements() &&
          tensor.dtype == op.dtype(0)) {
        TW_ASSIGN_OR_RETURN(HostTensor copy, op.NewTensor(tensor.dtype, shape));
        std::memcpy(copy.data(), op.input(0).constant->data(),
                    static_cast<size_t>(copy.size_bytes()));
        values[i] = std::make_shared<HostTensor>(std::move(copy));
        continue;
      }
      if (tensor.compute.reduce_axes.empty() && body.op() == Op::kLoad &&
          graph.tensor(body.source()).kind == TensorKind::kConstant) {
        if (const auto axes = PlainIndices(body); axes.has_value()) {
          TW_ASSIGN_OR_RETURN(
              HostTensor moved,
              Moved(op, *graph.tensor(body.source()).value, *axes, shape));
          values[i] = std::make_shared<HostTensor>(std::move(moved));
          continue;
        }
      }
      interpret = true;
    }
    if (interpret) {
      const int64_t work = WorkOf(graph);
      if (work > work_left_) return false;
      work_left_ -= work;
      Interpreter::Options options;
      options.round_floats = true;
      TW_ASSIGN_OR_RETURN(const std::unique_ptr<Interpreter> interpreter,
                          Interpreter::Create(graph, {}, options));
      for (int i = 0; i < op.num_outputs(); ++i) {
        if (!op.has_output(i) || values[i] != nullptr) continue;
        TW_ASSIGN_OR_RETURN(HostTensor value,
                            interpreter->Evaluate(in.outputs()[i]));
        values[i] = std::make_shared<const HostTensor>(std::move(value));
      }
    }
  }
  bytes_left_ -= result;
  for (int i = 0; i < op.num_outputs(); ++i) {
    op.outputs()[i].constant = std::move(values[i]);
  }
  return true;
}

}  // namespace tilewright
