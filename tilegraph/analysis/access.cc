#include "tilegraph/analysis/access.h"

#include <algorithm>
#include <cmath>

#include "tilegraph/expr/simplify.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/compute_axes.h"

namespace tilewright {
namespace {

// The one variable of an expression without loads; nullopt if there are several
// or none.
std::optional<int> OnlyVar(const Expr& expr) {
  std::optional<int> var;
  bool simple = true;
  Visit(expr, [&](const Expr& e) {
    if (e.op() == Op::kLoad) simple = false;
    if (e.op() != Op::kVar) return;
    if (var && *var != e.var_id()) simple = false;
    var = e.var_id();
  });
  return simple ? var : std::nullopt;
}

Scalar Evaluate(const Expr& expr, int64_t var_value) {
  if (expr.op() == Op::kConst) {
    return IsFloat(expr.dtype()) ? Scalar{expr.float_value(), 0}
                                 : Scalar{0, expr.int_value()};
  }
  if (expr.op() == Op::kVar) return Scalar{0, var_value};
  std::vector<Scalar> operands;
  for (const Expr& operand : expr.operands())
    operands.push_back(Evaluate(operand, var_value));
  return EvaluateOp(expr.op(), expr.dtype(), expr.operands().back().dtype(),
                    operands, false);
}

// Narrows `interval[var]` to the values for which every conjunct of `condition`
// holds; false if it is not a conjunction of conditions on one axis each, true
// on one interval.
bool NarrowByConjunction(const Expr& condition, const RangeOf& ranges,
                         std::vector<Range>& interval) {
  if (condition.op() == Op::kAnd) {
    return NarrowByConjunction(condition.operand(0), ranges, interval) &&
           NarrowByConjunction(condition.operand(1), ranges, interval);
  }
  if (condition.op() == Op::kConst) return condition.int_value() != 0;
  const std::optional<int> var = OnlyVar(condition);
  if (!var || *var >= static_cast<int>(interval.size())) return false;
  const Range range = *ranges(*var);
  std::optional<Range> holds;
  for (int64_t value = range.min; value <= range.max; ++value) {
    if (Evaluate(condition, value).i == 0) continue;
    if (holds && holds->max != value - 1) return false;
    holds = Range{holds ? holds->min : value, value};
  }
  if (!holds) return false;
  Range& current = interval[*var];
  current = Range{std::max(current.min, holds->min),
                  std::min(current.max, holds->max)};
  return true;
}

bool IsZero(const Expr& expr) {
  if (expr.op() != Op::kConst) return false;
  return IsFloat(expr.dtype())
             ? expr.float_value() == 0 && !std::signbit(expr.float_value())
             : expr.int_value() == 0;
}

}  // namespace

bool ReadsElementwise(const TensorGraph& graph, TensorId consumer,
                      TensorId source) {
  const Tensor& tensor = graph.tensor(consumer);
  if (tensor.shape != graph.tensor(source).shape) return false;
  bool elementwise = true;
  for (const Expr& body : tensor.compute.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad || e.source() != source) return;
      for (int i = 0; i < static_cast<int>(e.operands().size()); ++i) {
        const Expr& index = e.operand(i);
        const bool own = index.op() == Op::kVar && index.var_id() == i;
        const bool only = index.IsIntConst(0) && tensor.shape[i] == Dim(1);
        elementwise = elementwise && (own || only);
      }
    });
  }
  return elementwise;
}

std::optional<ZeroPadding> AsZeroPadding(const TensorGraph& graph,
                                         TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.kind != TensorKind::kCompute || tensor.compute.combiner ||
      tensor.compute.body.size() != 1)
    return std::nullopt;
  const Expr& body = tensor.compute.body[0];
  if (body.op() != Op::kSelect || body.operand(1).op() != Op::kLoad ||
      !IsZero(body.operand(2)))
    return std::nullopt;
  const Expr& load = body.operand(1);
  const Tensor& source = graph.tensor(load.source());
  if (source.dtype != tensor.dtype ||
      source.shape.size() != tensor.shape.size())
    return std::nullopt;
  const RangeOf ranges = AxisRanges(tensor.compute);
  const int rank = static_cast<int>(tensor.shape.size());
  std::vector<Range> interval;
  for (int i = 0; i < rank; ++i) interval.push_back(*ranges(i));
  if (!NarrowByConjunction(body.operand(0), ranges, interval))
    return std::nullopt;
  ZeroPadding padding{load.source(), {}, {}};
  for (int i = 0; i < rank; ++i) {
    const LinearForm form = ToLinear(load.operand(i), ranges);
    const int64_t source_extent = source.shape[i].value();
    const bool shifted = form.terms.size() == 1 && form.CoefficientOf(i) == 1;
    const bool constant = form.terms.empty() && tensor.shape[i] == Dim(1);
    if (!shifted && !constant) return std::nullopt;
    const int64_t before = -form.constant;
    const int64_t after = tensor.shape[i].value() - source_extent - before;
    if (before < 0 || after < 0 || interval[i].min != before ||
        interval[i].max != before + source_extent - 1)
      return std::nullopt;
    padding.before.push_back(before);
    padding.after.push_back(after);
  }
  return padding;
}

std::optional<Move> AsMove(const TensorGraph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.kind != TensorKind::kCompute || tensor.compute.combiner ||
      tensor.compute.body.size() != 1)
    return std::nullopt;
  const Expr& load = tensor.compute.body[0];
  if (load.op() != Op::kLoad ||
      graph.tensor(load.source()).dtype != tensor.dtype)
    return std::nullopt;
  Move move{load.source(), {load.operands().begin(), load.operands().end()}};
  for (const Expr& index : move.index) {
    bool gathers = false;
    Visit(index, [&](const Expr& e) { gathers |= e.op() == Op::kLoad; });
    if (gathers) return std::nullopt;
  }
  return move;
}

namespace {

// `load` is all of its source, at `begin` to `end` of `axis`.
bool IsPart(const TensorGraph& graph, const Tensor& tensor, const Expr& load,
            int axis, int64_t begin, int64_t end) {
  if (load.op() != Op::kLoad) return false;
  const Tensor& source = graph.tensor(load.source());
  if (source.dtype != tensor.dtype ||
      source.shape.size() != tensor.shape.size())
    return false;
  const RangeOf ranges = AxisRanges(tensor.compute);
  for (int d = 0; d < static_cast<int>(source.shape.size()); ++d) {
    const int64_t extent = source.shape[d].value();
    const int64_t first = d == axis ? begin : 0;
    const int64_t wanted = d == axis ? end - begin : tensor.shape[d].value();
    if (extent != wanted) return false;
    const LinearForm form = ToLinear(load.operand(d), ranges);
    const bool own = form.terms.size() == 1 && form.CoefficientOf(d) == 1 &&
                     form.constant == -first;
    const bool only =
        d != axis && extent == 1 && form.terms.empty() && form.constant == 0;
    if (!own && !only) return false;
  }
  return true;
}

// Whether `body`, where the axis is in [begin, end), is parts behind each
// other.
bool CollectParts(const TensorGraph& graph, const Tensor& tensor,
                  const Expr& body, int64_t begin, int64_t end,
                  Concatenation& result) {
  if (body.op() != Op::kSelect) {
    if (!IsPart(graph, tensor, body, result.axis, begin, end)) return false;
    result.parts.push_back({body.source(), begin});
    return true;
  }
  const auto bound = AsUpperBound(body.operand(0));
  if (!bound || bound->first != result.axis) return false;
  const int64_t middle = bound->second;
  return begin < middle && middle < end &&
         CollectParts(graph, tensor, body.operand(1), begin, middle, result) &&
         CollectParts(graph, tensor, body.operand(2), middle, end, result);
}

}  // namespace

std::optional<std::pair<int, int64_t>> AsUpperBound(const Expr& condition) {
  if (condition.op() != Op::kLt || condition.operand(0).op() != Op::kVar ||
      condition.operand(1).op() != Op::kConst)
    return std::nullopt;
  return std::make_pair(condition.operand(0).var_id(),
                        condition.operand(1).int_value());
}

std::optional<Concatenation> AsConcatenation(const TensorGraph& graph,
                                             TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.kind != TensorKind::kCompute || tensor.compute.combiner ||
      tensor.compute.body.size() != 1 ||
      tensor.compute.body[0].op() != Op::kSelect)
    return std::nullopt;
  const auto first = AsUpperBound(tensor.compute.body[0].operand(0));
  if (!first) return std::nullopt;
  Concatenation result{first->first, {}};
  if (!CollectParts(graph, tensor, tensor.compute.body[0], 0,
                    tensor.shape[result.axis].value(), result))
    return std::nullopt;
  return result;
}

}  // namespace tilewright
