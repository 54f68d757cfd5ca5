#include "frontends/onnx/graph/import_context.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace tilewright {
namespace {

std::vector<Expr> Variables(absl::Span<const Axis> axes, int first_id) {
  std::vector<Expr> variables;
  for (size_t i = 0; i < axes.size(); ++i) {
    variables.push_back(
        Expr::Var(first_id + static_cast<int>(i), axes[i].name));
  }
  return variables;
}

std::vector<Axis> ToAxes(absl::Span<const NamedAxis> named) {
  std::vector<Axis> axes;
  for (const NamedAxis& axis : named) {
    axes.push_back(Axis{axis.name, Dim(axis.extent)});
  }
  return axes;
}

}  // namespace

ImportContext::ImportContext(const OpContext& op, TensorGraph& graph,
                             std::function<TensorId(ValueId)> tensor_of)
    : op_(op),
      graph_(graph),
      tensor_of_(std::move(tensor_of)),
      outputs_(op.num_outputs(), -1) {}

TensorId ImportContext::input(int i) {
  TW_CHECK(op_.has_input(i));
  return tensor_of_(op_.node().inputs[i]);
}

Shape ImportContext::shape_of(TensorId id) const {
  return graph_.tensor(id).static_shape();
}

std::string ImportContext::Name(int i, absl::string_view suffix) const {
  std::string name;
  if (op_.has_output(i)) {
    name = op_.value_name(op_.node().outputs[i]);
  } else {
    int named = 0;
    while (!op_.has_output(named)) ++named;
    name = absl::StrCat(op_.value_name(op_.node().outputs[named]), ".", i);
  }
  return suffix.empty() ? name : absl::StrCat(name, ".", suffix);
}

TensorId ImportContext::Elementwise(std::string name, DType dtype,
                                    const Shape& shape, ComputeHint hint,
                                    const Body& body) {
  Compute compute;
  for (size_t d = 0; d < shape.size(); ++d) {
    compute.axes.push_back(Axis{absl::StrCat("d", d), Dim(shape[d])});
  }
  const std::vector<Expr> index = Variables(compute.axes, 0);
  extents_ = shape;
  compute.body = {CastTo(dtype, body(index))};
  return graph_.AddCompute(std::move(name), dtype, std::move(compute),
                           std::move(hint));
}

void ImportContext::EmitElementwise(int i, ComputeHint hint, const Body& body) {
  SetOutput(i, Elementwise(Name(i), op_.output(i).dtype, op_.output(i).shape,
                           std::move(hint), body));
}

ImportContext::Loops ImportContext::LoopsOver(
    absl::Span<const NamedAxis> axes, absl::Span<const NamedAxis> reduced) {
  Loops loops;
  loops.compute.axes = ToAxes(axes);
  loops.compute.reduce_axes = ToAxes(reduced);
  loops.index = Variables(loops.compute.axes, 0);
  loops.over =
      Variables(loops.compute.reduce_axes, static_cast<int>(axes.size()));
  extents_.clear();
  for (const NamedAxis& axis : axes) extents_.push_back(axis.extent);
  for (const NamedAxis& axis : reduced) extents_.push_back(axis.extent);
  return loops;
}

TensorId ImportContext::Reduction(std::string name, DType dtype,
                                  absl::Span<const NamedAxis> axes,
                                  absl::Span<const NamedAxis> reduced,
                                  Combiner::Kind combiner, ComputeHint hint,
                                  const Terms& terms) {
  auto [compute, index, over] = LoopsOver(axes, reduced);
  const Expr term = terms(index, over);
  compute.combiner =
      Combiner(combiner, Combiner::DefaultAccumulator(term.dtype()));
  compute.body = {CastTo(compute.combiner->acc(), term)};
  return graph_.AddCompute(std::move(name), dtype, std::move(compute),
                           std::move(hint));
}

TensorId ImportContext::ArgReduction(std::string name,
                                     absl::Span<const NamedAxis> axes,
                                     absl::Span<const NamedAxis> reduced,
                                     Combiner::Kind combiner, ComputeHint hint,
                                     const Terms& terms,
                                     const Terms& position) {
  auto [compute, index, over] = LoopsOver(axes, reduced);
  const Expr term = terms(index, over);
  compute.combiner =
      Combiner(combiner, Combiner::DefaultAccumulator(term.dtype()));
  compute.body = {CastTo(compute.combiner->acc(), term), position(index, over)};
  compute.result = 1;
  return graph_.AddCompute(std::move(name), DType::kInt64, std::move(compute),
                           std::move(hint));
}

TensorId ImportContext::Constant(std::string name, HostTensor value) {
  return graph_.AddConstant(
      std::move(name), std::make_shared<const HostTensor>(std::move(value)));
}

Expr ImportContext::Load(TensorId tensor, absl::Span<const Expr> index) const {
  const int rank = static_cast<int>(graph_.tensor(tensor).shape.size());
  return LoadAligned(tensor, index, static_cast<int>(index.size()) - rank);
}

Expr ImportContext::LoadAligned(TensorId tensor, absl::Span<const Expr> index,
                                int first) const {
  const Tensor& source = graph_.tensor(tensor);
  if (source.kind == TensorKind::kConstant && source.num_elements() == 1) {
    return LiteralOf(*source.value, 0);
  }
  std::vector<Expr> at;
  for (size_t d = 0; d < source.shape.size(); ++d) {
    // An axis of extent 1 says that the dimensions go together.
    const Expr& here = index[first + d];
    const bool broadcast =
        source.shape[d].value() == 1 &&
        !(here.op() == Op::kVar && extents_[here.var_id()] == 1);
    at.push_back(broadcast ? Expr::Int(0) : here);
  }
  return graph_.Load(tensor, std::move(at));
}

Expr Literal(DType dtype, double value) {
  if (IsFloat(dtype)) return Expr::Float(value, dtype);
  return Expr::Int(static_cast<int64_t>(value), dtype);
}

Expr LiteralOf(const HostTensor& tensor, int64_t index) {
  const Scalar value = tensor.Get(index);
  return IsFloat(tensor.dtype()) ? Expr::Float(value.f, tensor.dtype())
                                 : Expr::Int(value.i, tensor.dtype());
}

Expr Unary(Op op, const Expr& a) { return Expr::Make(op, {a}); }

Expr Binary(Op op, const Expr& a, const Expr& b) {
  return Expr::Make(op, {a, b});
}

Expr Add(const Expr& a, const Expr& b) { return Binary(Op::kAdd, a, b); }
Expr Add(const Expr& a, double b) { return Add(a, Literal(a.dtype(), b)); }
Expr Sub(const Expr& a, const Expr& b) { return Binary(Op::kSub, a, b); }
Expr Mul(const Expr& a, const Expr& b) { return Binary(Op::kMul, a, b); }
Expr Mul(const Expr& a, double b) { return Mul(a, Literal(a.dtype(), b)); }
Expr Div(const Expr& a, const Expr& b) { return Binary(Op::kDiv, a, b); }

Expr CastTo(DType dtype, const Expr& value) {
  return value.dtype() == dtype ? value : Expr::Cast(dtype, value);
}

Expr SelectExpr(const Expr& condition, const Expr& then,
                const Expr& otherwise) {
  return Expr::Make(Op::kSelect, {condition, then, otherwise});
}

Expr InBounds(const Expr& index, int64_t extent, bool below, bool above) {
  Expr result;
  if (below) result = Binary(Op::kGe, index, Expr::Int(0));
  if (above) {
    result = AndAll(result, Binary(Op::kLt, index, Expr::Int(extent)));
  }
  return result;
}

Expr AndAll(const Expr& a, const Expr& b) {
  if (!a) return b;
  if (!b) return a;
  return Binary(Op::kAnd, a, b);
}

Expr Lowest(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return Expr::Int(std::numeric_limits<int8_t>::min(), dtype);
    case DType::kInt16:
      return Expr::Int(std::numeric_limits<int16_t>::min(), dtype);
    case DType::kInt32:
      return Expr::Int(std::numeric_limits<int32_t>::min(), dtype);
    case DType::kInt64:
      return Expr::Int(std::numeric_limits<int64_t>::min(), dtype);
    default:
      return IsFloat(dtype) ? Expr::Float(-INFINITY, dtype)
                            : Expr::Int(0, dtype);
  }
}

Expr Highest(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return Expr::Int(1, dtype);
    case DType::kInt8:
      return Expr::Int(std::numeric_limits<int8_t>::max(), dtype);
    case DType::kInt16:
      return Expr::Int(std::numeric_limits<int16_t>::max(), dtype);
    case DType::kInt32:
      return Expr::Int(std::numeric_limits<int32_t>::max(), dtype);
    case DType::kInt64:
      return Expr::Int(std::numeric_limits<int64_t>::max(), dtype);
    case DType::kUInt8:
      return Expr::Int(std::numeric_limits<uint8_t>::max(), dtype);
    case DType::kUInt16:
      return Expr::Int(std::numeric_limits<uint16_t>::max(), dtype);
    case DType::kUInt32:
      return Expr::Int(std::numeric_limits<uint32_t>::max(), dtype);
    case DType::kUInt64:
      return Expr::Int(-1, dtype);  // uint64 as its bit pattern
    default:
      return Expr::Float(INFINITY, dtype);
  }
}

}  // namespace tilewright
