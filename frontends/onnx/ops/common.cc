#include "frontends/onnx/ops/common.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"

namespace tilewright {

absl::Status RequireType(const OpContext& op, int i, TypeClass wanted) {
  const DType dtype = op.dtype(i);
  const bool fits = wanted == TypeClass::kAny ||
                    (wanted == TypeClass::kNumeric && dtype != DType::kBool) ||
                    (wanted == TypeClass::kFloat && IsFloat(dtype)) ||
                    (wanted == TypeClass::kBool && dtype == DType::kBool);
  if (fits) return absl::OkStatus();
  const char* expected = wanted == TypeClass::kFloat  ? "a float type"
                         : wanted == TypeClass::kBool ? "bool"
                                                      : "a number type";
  return op.Error("input ", Quoted(op.value_name(op.node().inputs[i])), " is ",
                  DTypeText(dtype), " where ", expected, " is needed");
}

absl::Status RequireSameType(const OpContext& op, int first) {
  int reference = -1;
  for (int i = first; i < op.num_inputs(); ++i) {
    if (!op.has_input(i)) continue;
    if (reference < 0) reference = i;
    if (op.dtype(i) != op.dtype(reference)) {
      return op.Error("inputs ",
                      Quoted(op.value_name(op.node().inputs[reference])),
                      " and ", Quoted(op.value_name(op.node().inputs[i])),
                      " are ", DTypeText(op.dtype(reference)), " and ",
                      DTypeText(op.dtype(i)), " where one type is needed");
    }
  }
  return absl::OkStatus();
}

absl::Status RequireRank(const OpContext& op, int i, int least) {
  if (op.rank(i) >= least) return absl::OkStatus();
  return op.Error("input ", Quoted(op.value_name(op.node().inputs[i])),
                  " has shape ", ShapeText(op.shape(i)), " where at least ",
                  least, " dimensions are needed");
}

absl::StatusOr<Shape> BroadcastShapes(const OpContext& op, const Shape& a,
                                      const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (size_t k = 1; k <= rank; ++k) {
    const int64_t left = k <= a.size() ? a[a.size() - k] : 1;
    const int64_t right = k <= b.size() ? b[b.size() - k] : 1;
    if (left != right && left != 1 && right != 1) {
      return op.Error("shapes ", ShapeText(a), " and ", ShapeText(b),
                      " do not broadcast; fix the model");
    }
    result[rank - k] = left == 1 ? right : left;
  }
  return result;
}

absl::Status InferSame(OpContext& op) {
  op.SetOutput(0, op.dtype(0), op.shape(0));
  return absl::OkStatus();
}

absl::Status InferSameNumeric(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kNumeric));
  return InferSame(op);
}

absl::Status InferSameFloat(OpContext& op) {
  TW_RETURN_IF_ERROR(RequireType(op, 0, TypeClass::kFloat));
  return InferSame(op);
}

std::string HintOf(const OpContext& op) {
  return absl::AsciiStrToLower(op.node().op);
}

Expr FlatPosition(absl::Span<const Expr> index, const Shape& shape) {
  Expr position = Expr::Int(0);
  for (size_t d = 0; d < shape.size(); ++d)
    position = position * Expr::Int(shape[d]) + index[d];
  return position;
}

std::vector<Expr> IndexOfFlat(const Expr& position, const Shape& shape) {
  std::vector<Expr> index(shape.size());
  Expr rest = position;
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = d == 0 ? rest : FloorMod(rest, Expr::Int(shape[d]));
    rest = FloorDiv(rest, Expr::Int(shape[d]));
  }
  return index;
}

Expr PositionFromData(const Expr& position, int64_t extent) {
  const Expr wide = CastTo(DType::kInt64, position);
  if (wide.op() == Op::kConst) {
    const int64_t at = wide.int_value();
    return Expr::Int(
        std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent - 1));
  }
  const Expr wrapped = SelectExpr(Binary(Op::kLt, wide, Expr::Int(0)),
                                  wide + Expr::Int(extent), wide);
  return Binary(Op::kMin, Binary(Op::kMax, wrapped, Expr::Int(0)),
                Expr::Int(extent - 1));
}

absl::Status EmitMove(
    ImportContext& in, bool is_whole,
    const std::function<std::vector<Expr>(absl::Span<const Expr>)>& at) {
  const TensorId x = in.input(0);
  if (is_whole) {
    in.SetOutput(0, x);
    return absl::OkStatus();
  }
  in.EmitElementwise(0, HintOf(in.op()), [&](absl::Span<const Expr> index) {
    return in.At(x, at(index));
  });
  return absl::OkStatus();
}

FramedIndex WithoutFrame(absl::Span<const Expr> index, const Shape& shape,
                         absl::Span<const int64_t> before,
                         absl::Span<const int64_t> behind) {
  FramedIndex framed;
  for (size_t d = 0; d < shape.size(); ++d) {
    framed.at.push_back(index[d] - Expr::Int(before[d]));
    framed.inside =
        AndAll(framed.inside,
               InBounds(framed.at[d], shape[d], before[d] > 0, behind[d] > 0));
  }
  return framed;
}

TensorId PadDims(ImportContext& in, std::string name, TensorId x,
                 absl::Span<const int64_t> before,
                 absl::Span<const int64_t> behind, const Expr& outside) {
  const Shape inner = in.shape_of(x);
  Shape shape = inner;
  for (size_t d = 0; d < shape.size(); ++d) shape[d] += before[d] + behind[d];
  if (shape == inner) return x;
  return in.Elementwise(
      std::move(name), in.dtype_of(x), shape, "pad",
      [&](absl::Span<const Expr> index) {
        const FramedIndex framed = WithoutFrame(index, inner, before, behind);
        return SelectExpr(framed.inside, in.At(x, framed.at), outside);
      });
}

TensorId ReduceDims(ImportContext& in, std::string name, DType dtype,
                    const Shape& shape, const std::vector<bool>& reduced,
                    bool keep, Combiner::Kind combiner, ComputeHint hint,
                    const Body& term) {
  std::vector<NamedAxis> axes;
  std::vector<NamedAxis> over;
  // Where dimension d of `shape` is found: in axes, or in over.
  std::vector<size_t> position;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (reduced[d]) {
      position.push_back(over.size());
      over.push_back({absl::StrCat("r", d), shape[d]});
      if (keep) axes.push_back({absl::StrCat("d", d), 1});
    } else {
      position.push_back(axes.size());
      axes.push_back({absl::StrCat("d", d), shape[d]});
    }
  }
  return in.Reduction(
      std::move(name), dtype, axes, over, combiner, std::move(hint),
      [&](absl::Span<const Expr> out, absl::Span<const Expr> terms) {
        std::vector<Expr> index;
        for (size_t d = 0; d < shape.size(); ++d) {
          index.push_back(reduced[d] ? terms[position[d]] : out[position[d]]);
        }
        return term(index);
      });
}

Expr Quantized(const Expr& value, const Expr& zero, DType to, int narrow_bits) {
  Expr result = Unary(Op::kRound, value);
  if (zero) result = Binary(Op::kAdd, result, zero);
  if (narrow_bits != 0) {
    // Dividing by a power of two rounds down: -128 becomes -8, 127 becomes 7.
    const int64_t cut = 8 - narrow_bits;
    const auto low = static_cast<double>(Lowest(to).int_value() >> cut);
    const auto high = static_cast<double>(Highest(to).int_value() >> cut);
    const DType work = value.dtype();
    result = Binary(Op::kMax, result, Literal(work, low));
    result = Binary(Op::kMin, result, Literal(work, high));
  }
  return CastTo(to, result);  // which saturates
}

std::vector<NamedAxis> AxesOf(const Shape& shape) {
  std::vector<NamedAxis> axes;
  for (size_t d = 0; d < shape.size(); ++d)
    axes.push_back({absl::StrCat("d", d), shape[d]});
  return axes;
}

int64_t Product(const Shape& shape, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) product *= shape[i];
  return product;
}

Expr LoadReshaped(const ImportContext& in, TensorId from, const Shape& shape,
                  absl::Span<const Expr> index, const Shape& to_shape) {
  // Dimensions are matched in runs of equal product, so that each index
  // mentions only the axes it depends on.
  std::vector<Expr> at(shape.size());
  size_t f = 0;
  size_t t = 0;
  while (f < shape.size() || t < to_shape.size()) {
    const size_t f_begin = f;
    const size_t t_begin = t;
    int64_t f_size = f < shape.size() ? shape[f++] : 1;
    int64_t t_size = t < to_shape.size() ? to_shape[t++] : 1;
    while (f_size != t_size) {
      if (f_size < t_size) {
        f_size *= shape[f++];
      } else {
        t_size *= to_shape[t++];
      }
    }
    Expr position = Expr::Int(0);
    for (size_t k = t_begin; k < t; ++k) {
      position = position * Expr::Int(to_shape[k]) + index[k];
    }
    int64_t inner = 1;
    for (size_t k = f; k-- > f_begin;) {
      Expr digit = inner == 1 ? position : FloorDiv(position, Expr::Int(inner));
      inner *= shape[k];
      if (shape[k] == 1) {
        digit = Expr::Int(0);
      } else if (inner != f_size) {
        digit = FloorMod(digit, Expr::Int(shape[k]));
      }
      at[k] = digit;
    }
  }
  return in.At(from, std::move(at));
}

TensorId EmitReshaped(ImportContext& in, std::string name, TensorId x,
                      const Shape& shape) {
  const Shape from = in.shape_of(x);
  return in.Elementwise(std::move(name), in.dtype_of(x), shape,
                        ComputeRole::kReshape,
                        [&](absl::Span<const Expr> index) {
                          return LoadReshaped(in, x, from, index, shape);
                        });
}

absl::Status ImportReshape(ImportContext& in) {
  const TensorId x = in.input(0);
  const Shape& to = in.op().output(0).shape;
  in.SetOutput(0,
               in.op().shape(0) == to ? x : EmitReshaped(in, in.Name(), x, to));
  return absl::OkStatus();
}

}  // namespace tilewright
