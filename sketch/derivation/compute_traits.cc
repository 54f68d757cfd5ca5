#include "sketch/derivation/compute_traits.h"

#include <algorithm>
#include <map>
#include <vector>

#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
namespace {

// The largest extent of the axes of a linear transform's matrices.
constexpr int64_t kMostUnrolled = 8;

// An axis, an axis and a constant, or a constant: the axis, -1 without one.
struct SimpleIndex {
  bool simple = false;
  int axis = -1;
};

SimpleIndex AsSimple(const Expr& index) {
  if (index.op() == Op::kConst) return {true, -1};
  if (index.op() == Op::kVar) return {true, index.var_id()};
  if (index.op() != Op::kAdd && index.op() != Op::kSub) return {};
  const Expr &a = index.operand(0), &b = index.operand(1);
  if (a.op() == Op::kVar && b.op() == Op::kConst) return {true, a.var_id()};
  if (index.op() == Op::kAdd && a.op() == Op::kConst && b.op() == Op::kVar)
    return {true, b.var_id()};
  return {};
}

// Every index is simple, and axes appear in their order, each once.
bool ReadsInOrder(const Expr& load) {
  int last = -1;
  for (const Expr& operand : load.operands()) {
    const SimpleIndex index = AsSimple(operand);
    if (!index.simple) return false;
    if (index.axis < 0) continue;
    if (index.axis <= last) return false;
    last = index.axis;
  }
  return true;
}

bool StrictlyInlinable(const Compute& compute) {
  if (compute.combiner) return false;
  bool inlinable = true;
  for (const Expr& body : compute.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() == Op::kLoad && !ReadsInOrder(e)) inlinable = false;
      if (e.op() == Op::kSelect || e.op() == Op::kSqrt ||
          IsTranscendental(e.op()))
        inlinable = false;
    });
  }
  return inlinable;
}

// By tensor that the compute loads, the axes that its indices mention.
std::map<TensorId, std::set<int>> AxesOfLoads(const Compute& compute) {
  std::map<TensorId, std::set<int>> axes;
  for (const Expr& body : compute.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad) return;
      std::set<int>& of_tensor = axes[e.source()];
      for (const Expr& index : e.operands()) of_tensor.merge(VarsOf(index));
    });
  }
  return axes;
}

bool NeedsTiling(const Compute& compute) {
  int reused = 0;
  for (const auto& [tensor, axes] : AxesOfLoads(compute)) {
    bool missing = false;
    for (size_t i = 0; i < compute.axes.size(); ++i) {
      missing |= compute.axes[i].extent.value() > 1 &&
                 axes.count(static_cast<int>(i)) == 0;
    }
    reused += missing ? 1 : 0;
  }
  return reused >= 2 || (reused >= 1 && compute.combiner.has_value());
}

// At least two loads of constant matrices, each indexed by one small axis of
// the result and one reduce axis; and all reduce axes are among these.
std::set<int> ConstantAxes(const TensorGraph& graph, const Compute& compute) {
  const int spatial = static_cast<int>(compute.axes.size());
  const auto extent = [&](int axis) {
    return (axis < spatial ? compute.axes[axis]
                           : compute.reduce_axes[axis - spatial])
        .extent.value();
  };
  std::set<int> found;
  int matrices = 0;
  for (const Expr& body : compute.body) {
    Visit(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad || e.operands().size() != 2 ||
          graph.tensor(e.source()).kind != TensorKind::kConstant)
        return;
      const int a = AsSimple(e.operand(0)).axis,
                b = AsSimple(e.operand(1)).axis;
      if (a < 0 || b < 0 || (a < spatial) == (b < spatial) ||
          std::max(extent(a), extent(b)) > kMostUnrolled)
        return;
      found.insert({a, b});
      ++matrices;
    });
  }
  for (size_t r = 0; r < compute.reduce_axes.size(); ++r) {
    if (found.count(spatial + static_cast<int>(r)) == 0) return {};
  }
  return matrices >= 2 ? found : std::set<int>();
}

}  // namespace

ComputeTraits TraitsOf(const TensorGraph& graph, TensorId id) {
  const Compute& compute = graph.tensor(id).compute;
  ComputeTraits traits;
  for (const Axis& axis : compute.axes) traits.elements *= axis.extent.value();
  for (const Axis& axis : compute.reduce_axes)
    traits.steps *= axis.extent.value();
  traits.strictly_inlinable = StrictlyInlinable(compute);
  traits.constant_axes = ConstantAxes(graph, compute);
  traits.needs_tiling = traits.constant_axes.empty() && NeedsTiling(compute);
  return traits;
}

}  // namespace tilewright::sketch
