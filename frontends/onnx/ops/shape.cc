// The same elements in another shape, and tensors known from shapes and
// attributes alone.
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/op_def.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "frontends/onnx/ops/common.h"
#include "frontends/onnx/ops/families.h"

namespace tilewright {
namespace {

constexpr int64_t kLongestRange = int64_t{1} << 21;

void SetConstant(OpContext& op, HostTensor value) {
  op.SetOutput(0, value.dtype(), value.shape());
  op.outputs()[0].constant =
      std::make_shared<const HostTensor>(std::move(value));
}

HostTensor IntTensor(const std::vector<int64_t>& values) {
  HostTensor tensor(DType::kInt64, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.Set(static_cast<int64_t>(i), Scalar{0, values[i]});
  }
  return tensor;
}

absl::Status InferReshape(OpContext& op) {
  TW_ASSIGN_OR_RETURN(Shape to, op.ConstInts(1));
  const Shape& from = op.shape(0);
  TW_ASSIGN_OR_RETURN(const int64_t bytes, TensorBytes(op.dtype(0), from));
  const int64_t total = bytes / SizeBytes(op.dtype(0));
  const bool allow_zero = op.Int("allowzero", 0) != 0;
  int64_t known = 1;
  int open = -1;
  const Shape wanted = to;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 0 && !allow_zero) {
      if (d >= from.size()) {
        return op.Error("shape ", ShapeText(wanted), " copies dimension ", d,
                        ", which ", ShapeText(from), " does not have");
      }
      to[d] = from[d];
    }
    if (to[d] == -1 && open < 0) {
      open = static_cast<int>(d);
      continue;
    }
    if (to[d] < 0 || (to[d] > 0 && known > total / to[d] + 1)) {
      known = -1;
      break;
    }
    known *= to[d];
  }
  if (open >= 0 && known > 0 && total % known == 0) {
    to[open] = total / known;
    known = total;
  }
  if (known != total) {
    return op.Error("shapes ", ShapeText(from), " and ", ShapeText(wanted),
                    " do not hold the same number of elements; fix the model");
  }
  op.SetOutput(0, op.dtype(0), std::move(to));
  return absl::OkStatus();
}

absl::Status InferFlatten(OpContext& op) {
  const int rank = op.rank(0);
  const int64_t axis = op.Int("axis", 1);
  if (axis < -rank || axis > rank) {
    return op.Error("axis ", axis, " is outside a tensor of rank ", rank);
  }
  const int64_t split = axis < 0 ? axis + rank : axis;
  op.SetOutput(
      0, op.dtype(0),
      {Product(op.shape(0), 0, split), Product(op.shape(0), split, rank)});
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> AxesOf(const OpContext& op) {
  if (op.has_input(1)) return op.ConstInts(1);
  return op.Ints("axes");
}

absl::Status InferSqueeze(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> given, AxesOf(op));
  const bool all = !op.has_input(1) && !op.HasAttribute("axes");
  TW_ASSIGN_OR_RETURN(const std::vector<int> axes, op.Axes(given, op.rank(0)));
  Shape shape;
  size_t next = 0;
  for (int d = 0; d < op.rank(0); ++d) {
    const bool chosen = next < axes.size() && axes[next] == d;
    if (chosen) ++next;
    const int64_t extent = op.shape(0)[d];
    if (chosen && extent != 1) {
      return op.Error("dimension ", d, " of ", ShapeText(op.shape(0)),
                      " is not 1");
    }
    if (chosen || (all && extent == 1)) continue;
    shape.push_back(extent);
  }
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status InferUnsqueeze(OpContext& op) {
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> given, AxesOf(op));
  constexpr size_t kMostAxes = 64;
  if (given.size() > kMostAxes)
    return op.Error("there are ", given.size(), " axes to add");
  const int rank = op.rank(0) + static_cast<int>(given.size());
  TW_ASSIGN_OR_RETURN(const std::vector<int> axes, op.Axes(given, rank));
  Shape shape = op.shape(0);
  for (const int axis : axes) shape.insert(shape.begin() + axis, 1);
  op.SetOutput(0, op.dtype(0), std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportIdentity(ImportContext& in) {
  in.SetOutput(0, in.input(0));
  return absl::OkStatus();
}

// Inference only: the second output, the mask, is all true.
absl::Status InferDropout(OpContext& op) {
  if (op.has_input(2)) {
    const auto& training = op.input(2).constant;
    const auto& ratio = op.has_input(1) ? op.input(1).constant : nullptr;
    const bool off = training != nullptr && training->num_elements() == 1 &&
                     training->Get(0).i == 0;
    const bool nothing = ratio != nullptr && ratio->num_elements() == 1 &&
                         IsFloat(ratio->dtype()) && ratio->Get(0).f == 0;
    if (!off && !nothing) return op.Unsupported("training mode");
  }
  op.SetOutput(1, op.opset() >= 10 ? DType::kBool : op.dtype(0), op.shape(0));
  return InferSame(op);
}

absl::Status ImportDropout(ImportContext& in) {
  if (in.op().has_output(1)) {
    in.EmitElementwise(1, "fill", [&](absl::Span<const Expr>) {
      return Literal(in.op().output(1).dtype, 1);
    });
  }
  return ImportIdentity(in);
}

absl::Status InferShapeOf(OpContext& op) {
  const Shape& shape = op.shape(0);
  const int64_t rank = op.rank(0);
  const auto clip = [rank](int64_t at) {
    if (at < 0) at += rank;
    return std::min(std::max<int64_t>(at, 0), rank);
  };
  const int64_t start = clip(op.Int("start", 0));
  const int64_t end = clip(op.Int("end", rank));
  SetConstant(op, IntTensor(start < end ? Shape(shape.begin() + start,
                                                shape.begin() + end)
                                        : Shape()));
  return absl::OkStatus();
}

absl::Status InferSize(OpContext& op) {
  HostTensor size(DType::kInt64, {});
  size.Set(0, Scalar{0, Product(op.shape(0), 0, op.rank(0))});
  SetConstant(op, std::move(size));
  return absl::OkStatus();
}

absl::Status InferConstant(OpContext& op) {
  if (const auto value = op.Tensor("value"); value != nullptr) {
    op.SetOutput(0, value->dtype(), value->shape(),
                 op.node().attributes.at("value").narrow_bits);
    op.outputs()[0].constant = value;
    return absl::OkStatus();
  }
  if (op.HasAttribute("value_ints")) {
    SetConstant(op, IntTensor(op.Ints("value_ints")));
  } else if (op.HasAttribute("value_int")) {
    HostTensor scalar(DType::kInt64, {});
    scalar.Set(0, Scalar{0, op.Int("value_int", 0)});
    SetConstant(op, std::move(scalar));
  } else if (op.HasAttribute("value_float")) {
    HostTensor scalar(DType::kFloat32, {});
    scalar.Set(0, Scalar{op.Float("value_float", 0), 0});
    SetConstant(op, std::move(scalar));
  } else if (op.HasAttribute("value_floats")) {
    const std::vector<float> values = op.Floats("value_floats");
    HostTensor list(DType::kFloat32, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i) {
      list.Set(static_cast<int64_t>(i), Scalar{values[i], 0});
    }
    SetConstant(op, std::move(list));
  } else {
    return op.Unsupported("a constant that is no dense tensor of numbers");
  }
  return absl::OkStatus();
}

absl::Status InferConstantOfShape(OpContext& op) {
  TW_ASSIGN_OR_RETURN(Shape shape, op.ConstInts(0));
  const auto value = op.Tensor("value");
  if (value != nullptr && value->num_elements() != 1) {
    return op.Error("attribute 'value' has ", value->num_elements(),
                    " elements where one is needed");
  }
  op.SetOutput(0, value == nullptr ? DType::kFloat32 : value->dtype(),
               std::move(shape));
  return absl::OkStatus();
}

absl::Status ImportConstantOfShape(ImportContext& in) {
  const auto value = in.op().Tensor("value");
  in.EmitElementwise(0, "fill", [&](absl::Span<const Expr>) {
    return value == nullptr ? Literal(DType::kFloat32, 0)
                            : LiteralOf(*value, 0);
  });
  return absl::OkStatus();
}

// start, limit and delta are known: so is the result.
absl::Status InferRange(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireSameType(op));
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  Scalar values[3];
  for (int i = 0; i < 3; ++i) {
    const auto& constant = op.input(i).constant;
    if (constant == nullptr) {
      return op.Unsupported("a range that is not known when compiling");
    }
    if (constant->num_elements() != 1) {
      return op.Error("input ", i, " has shape ", ShapeText(constant->shape()),
                      " where a scalar is needed");
    }
    values[i] = constant->Get(0);
  }
  const bool is_float = IsFloat(op.dtype(0));
  const auto number = [&](int i) {
    return is_float ? values[i].f : static_cast<double>(values[i].i);
  };
  const double steps =
      number(2) == 0 ? 0 : std::ceil((number(1) - number(0)) / number(2));
  if (number(2) == 0 || !(steps <= static_cast<double>(kLongestRange))) {
    return op.Error("a range from ", number(0), " to ", number(1), " by ",
                    number(2), " has no end or more than ", kLongestRange,
                    " elements");
  }
  TW_ASSIGN_OR_RETURN(
      HostTensor range,
      op.NewTensor(op.dtype(0), {static_cast<int64_t>(std::max(0.0, steps))}));
  for (int64_t i = 0; i < range.num_elements(); ++i) {
    range.Set(i, Scalar{values[0].f + static_cast<double>(i) * values[2].f,
                        values[0].i + i * values[2].i});
  }
  SetConstant(op, std::move(range));
  return absl::OkStatus();
}

absl::Status InferEyeLike(OpContext& op) {
  if (op.rank(0) != 2) {
    return op.Error("shape ", ShapeText(op.shape(0)),
                    " must have two dimensions");
  }
  const int64_t type = op.Int("dtype", 0);
  const std::optional<DType> dtype =
      type == 0 ? op.dtype(0) : FromOnnxType(type);
  if (!dtype.has_value()) return op.Unsupported("type ", OnnxTypeName(type));
  op.SetOutput(0, *dtype, op.shape(0));
  return absl::OkStatus();
}

absl::Status ImportEyeLike(ImportContext& in) {
  const int64_t diagonal = in.op().Int("k", 0);
  in.EmitElementwise(0, "eye", [&](absl::Span<const Expr> index) {
    return CastTo(in.op().output(0).dtype,
                  Binary(Op::kEq, index[0] + Expr::Int(diagonal), index[1]));
  });
  return absl::OkStatus();
}

// A null import: the inference always gives the value.
constexpr OpDef kOps[] = {
    {"Reshape", 6, 2, 2, InferReshape, ImportReshape},
    {"Flatten", 6, 1, 1, InferFlatten, ImportReshape},
    {"Squeeze", 6, 1, 1, InferSqueeze, ImportReshape},
    {"Squeeze", 13, 1, 2, InferSqueeze, ImportReshape},
    {"Unsqueeze", 6, 1, 1, InferUnsqueeze, ImportReshape},
    {"Unsqueeze", 13, 2, 2, InferUnsqueeze, ImportReshape},
    {"Identity", 6, 1, 1, InferSame, ImportIdentity},
    {"Dropout", 6, 1, 1, InferDropout, ImportDropout},
    {"Dropout", 12, 1, 3, InferDropout, ImportDropout},
    {"Shape", 6, 1, 1, InferShapeOf, nullptr},
    {"Size", 6, 1, 1, InferSize, nullptr},
    {"Constant", 6, 0, 0, InferConstant, nullptr},
    {"ConstantOfShape", 9, 1, 1, InferConstantOfShape, ImportConstantOfShape},
    {"Range", 11, 3, 3, InferRange, nullptr},
    {"EyeLike", 9, 1, 1, InferEyeLike, ImportEyeLike},
};

}  // namespace

absl::Span<const OpDef> ShapeOps() { return kOps; }

}  // namespace tilewright
