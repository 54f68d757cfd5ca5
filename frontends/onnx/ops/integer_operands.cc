#include "frontends/onnx/ops/integer_operands.h"

#include "absl/strings/str_cat.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/new_tensor.h"

namespace tilewright {

const HostTensor* Known(const OpContext& op, int i) {
  return op.has_input(i) ? op.input(i).constant.get() : nullptr;
}

absl::Status CheckOperand(const OpContext& op, const Operand& operand,
                          int dim) {
  if (!Is8Bit(op.dtype(operand.value)))
    return op.Unsupported("type ", DTypeText(op.dtype(operand.value)));
  if (!op.has_input(operand.zero)) return absl::OkStatus();
  if (op.dtype(operand.zero) != op.dtype(operand.value)) {
    return op.Error("values are ", DTypeText(op.dtype(operand.value)),
                    " but zero points ", DTypeText(op.dtype(operand.zero)));
  }
  const Shape& zero = op.shape(operand.zero);
  if (Product(zero, 0, zero.size()) == 1) return absl::OkStatus();
  if (dim < 0 || zero != Shape{op.shape(operand.value)[dim]})
    return op.Unsupported("zero points of shape ", ShapeText(zero));
  return absl::OkStatus();
}

std::optional<HostTensor> Centred(const OpContext& op, const Operand& operand,
                                  int dim) {
  const HostTensor* w = Known(op, operand.value);
  const HostTensor* zero = Known(op, operand.zero);
  if (w == nullptr || (zero == nullptr && op.has_input(operand.zero)))
    return std::nullopt;
  const int64_t inner =
      Product(w->shape(), static_cast<size_t>(dim) + 1, w->shape().size());
  HostTensor centred = NewTensorOrThrow(
      DType::kInt8, w->shape(),
      absl::StrCat("integer weights '",
                   op.value_name(op.node().inputs[operand.value]), "'"));
  for (int64_t i = 0; i < w->num_elements(); ++i) {
    int64_t value = w->Get(i).i;
    if (zero != nullptr) {
      const bool one = zero->num_elements() == 1;
      value -= zero->Get(one ? 0 : i / inner % w->shape()[dim]).i;
    }
    if (value < -128 || value > 127) return std::nullopt;
    centred.Set(i, Scalar{0, value});
  }
  return centred;
}

int64_t RoundUpToGroup(int64_t terms) {
  return (terms + kTermGroup - 1) / kTermGroup * kTermGroup;
}

HostTensor Filled(const HostTensor& w, int dim) {
  Shape shape = w.shape();
  const int64_t from = shape[dim];
  shape[dim] = RoundUpToGroup(from);
  if (shape[dim] == from) return w;
  const int64_t inner =
      Product(shape, static_cast<size_t>(dim) + 1, shape.size());
  HostTensor filled =
      NewTensorOrThrow(w.dtype(), shape, "weights in whole groups of terms");
  for (int64_t i = 0; i < filled.num_elements(); ++i) {
    const int64_t k = i / inner % shape[dim];
    const int64_t outer = i / inner / shape[dim];
    const int64_t source = (outer * from + k) * inner + i % inner;
    filled.Set(i, k < from ? w.Get(source) : Scalar{0, 0});
  }
  return filled;
}

std::vector<int64_t> Corrections(const HostTensor& w, int dim, int64_t zero) {
  const int64_t inner =
      Product(w.shape(), static_cast<size_t>(dim) + 1, w.shape().size());
  std::vector<int64_t> corrections(w.shape()[dim], 0);
  for (int64_t i = 0; i < w.num_elements(); ++i)
    corrections[i / inner % w.shape()[dim]] -= zero * w.Get(i).i;
  return corrections;
}

TensorId AsUnsigned(ImportContext& in, int i) {
  const TensorId x = in.input(i);
  if (in.dtype_of(x) == DType::kUInt8) return x;
  return in.Elementwise(
      in.Name(0, "offset"), DType::kUInt8, in.shape_of(x), "offset",
      [&](absl::Span<const Expr> index) {
        return CastTo(DType::kUInt8,
                      Binary(Op::kAdd, CastTo(DType::kInt32, in.Load(x, index)),
                             Literal(DType::kInt32, 128)));
      });
}

Expr UnsignedZero::Value(const ImportContext& in) const {
  const Expr zero = in.At(
      tensor, std::vector<Expr>(in.shape_of(tensor).size(), Expr::Int(0)));
  return Binary(Op::kAdd, CastTo(DType::kInt32, zero),
                Literal(DType::kInt32, static_cast<double>(offset)));
}

Expr UnsignedZero::AsByte(const ImportContext& in) const {
  if (known.has_value())
    return Literal(DType::kUInt8, static_cast<double>(*known));
  return CastTo(DType::kUInt8, Value(in));
}

std::optional<UnsignedZero> UnsignedZeroOf(ImportContext& in,
                                           const Operand& operand) {
  const OpContext& op = in.op();
  UnsignedZero result;
  result.offset = op.dtype(operand.value) == DType::kInt8 ? 128 : 0;
  if (!op.has_input(operand.zero)) {
    result.known = result.offset;
    return result;
  }
  const Shape& shape = op.shape(operand.zero);
  if (Product(shape, 0, shape.size()) != 1) return std::nullopt;
  const HostTensor* zero = Known(op, operand.zero);
  if (zero != nullptr) {
    result.known = zero->Get(0).i + result.offset;
  } else {
    result.tensor = in.input(operand.zero);
  }
  return result;
}

TensorId Widened(ImportContext& in, const Operand& operand, int dim,
                 const char* name) {
  const TensorId x = in.input(operand.value);
  const bool has_zero = in.op().has_input(operand.zero);
  const TensorId zero = has_zero ? in.input(operand.zero) : -1;
  return in.Elementwise(
      in.Name(0, name), DType::kInt32, in.shape_of(x), "widen",
      [&](absl::Span<const Expr> index) {
        const Expr value = CastTo(DType::kInt32, in.Load(x, index));
        if (!has_zero) return value;
        const bool one = in.graph().tensor(zero).num_elements() == 1;
        const Expr less =
            one ? in.At(zero, std::vector<Expr>(in.shape_of(zero).size(),
                                                Expr::Int(0)))
                : in.LoadAligned(zero, index, dim);
        return Binary(Op::kSub, value, CastTo(DType::kInt32, less));
      });
}

}  // namespace tilewright
