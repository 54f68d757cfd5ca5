#include "tilegraph/rewrite/split_phases.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/expr_vars.h"
#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/combiner.h"
#include "tilegraph/ir/compute_axes.h"

namespace tilewright {
namespace {

// (i + shift) by `stride` is what the body has of axis i.
struct Phase {
  size_t axis;
  int64_t stride;
  int64_t shift;

  int64_t first() const { return shift / stride; }  // quotient
  int64_t quotients(int64_t extent) const {
    return (extent - 1 + shift) / stride - first() + 1;
  }
};

// Of the first rest that the body takes of axis `axis` alone, if there are
// elements of all rests.
std::optional<Phase> PhaseOf(const Compute& compute, size_t axis) {
  std::optional<Phase> phase;
  const auto look_at = [&](const Expr& e) {
    if (phase || e.op() != Op::kFloorMod || e.operand(1).op() != Op::kConst)
      return;
    const LinearForm form =
        ToLinear(e.operand(0), [](int) { return std::nullopt; });
    const int64_t stride = e.operand(1).int_value();
    if (form.terms.size() == 1 && stride > 1 && form.constant >= 0 &&
        form.CoefficientOf(static_cast<int>(axis)) == 1 &&
        compute.axes[axis].extent.value() >= stride)
      phase = Phase{axis, stride, form.constant};
  };
  for (const Expr& body : compute.body) Visit(body, look_at);
  return phase;
}

std::vector<Phase> PhasesOf(const Tensor& tensor) {
  std::vector<Phase> phases;
  if (tensor.kind != TensorKind::kCompute || !tensor.compute.combiner ||
      tensor.compute.combiner->kind() != Combiner::Kind::kSum)
    return phases;
  for (size_t axis = 0; axis < tensor.compute.axes.size(); ++axis) {
    if (const std::optional<Phase> phase = PhaseOf(tensor.compute, axis))
      phases.push_back(*phase);
  }
  return phases;
}

// With the rests as first axes and the quotients in place of the axes.
Compute OfPhases(const Compute& compute, const std::vector<Phase>& phases) {
  Compute split = compute;
  std::vector<Axis> rests;
  const int added = static_cast<int>(phases.size());
  for (const Phase& phase : phases) {
    Axis& axis = split.axes[phase.axis];
    rests.push_back({NewAxisName(compute, absl::StrCat(axis.name, "_rest")),
                     Dim(phase.stride)});
    axis.extent = Dim(phase.quotients(axis.extent.value()));
  }
  split.axes.insert(split.axes.begin(), rests.begin(), rests.end());
  const auto moved = [&](int var) {
    const Expr own = Expr::Var(
        var + added, AxisAt(split, static_cast<size_t>(var + added)).name);
    for (size_t p = 0; p < phases.size(); ++p) {
      const Phase& phase = phases[p];
      if (static_cast<int>(phase.axis) != var) continue;
      return (own + Expr::Int(phase.first())) * Expr::Int(phase.stride) +
             Expr::Var(static_cast<int>(p), rests[p].name) -
             Expr::Int(phase.shift);
    }
    return own;
  };
  for (Expr& body : split.body)
    body = Simplify(Substitute(body, moved), AxisRanges(split));
  return split;
}

// Whether no load mentions a quotient together with its rest, as one of a
// tensor in another shape would, and nothing but loads mentions either.
bool AreApart(const Compute& split, const std::vector<Phase>& phases) {
  bool apart = true;
  for (size_t p = 0; p < phases.size(); ++p) {
    const int rest = static_cast<int>(p);
    const int quotient = static_cast<int>(phases.size() + phases[p].axis);
    const auto look_at = [&](const Expr& e) {
      if (e.op() == Op::kLoad)
        apart = apart && !(Mentions(e, rest) && Mentions(e, quotient));
    };
    for (const Expr& body : split.body) {
      Visit(body, look_at);
      const Expr outside = Rewrite(body, [](const Expr& e) {
        return e.op() == Op::kLoad ? Expr::Float(0) : Expr();
      });
      apart = apart && !MentionsAny(outside, {rest, quotient});
    }
  }
  return apart;
}

// Every element from where its phase has it.
Compute FromPhases(const Compute& compute, const std::vector<Phase>& phases,
                   TensorId source, const TensorGraph& graph) {
  Compute taken;
  taken.axes = compute.axes;
  std::vector<Expr> rests, others;
  for (size_t d = 0; d < compute.axes.size(); ++d)
    others.push_back(Expr::Var(static_cast<int>(d), compute.axes[d].name));
  for (const Phase& phase : phases) {
    Expr& axis = others[phase.axis];
    const Expr from = axis + Expr::Int(phase.shift);
    const Expr stride = Expr::Int(phase.stride);
    rests.push_back(FloorMod(from, stride));
    axis = FloorDiv(from, stride) - Expr::Int(phase.first());
  }
  rests.insert(rests.end(), others.begin(), others.end());
  taken.body = {
      Simplify(graph.Load(source, std::move(rests)), AxisRanges(taken))};
  return taken;
}

}  // namespace

RewrittenGraph SplitPhases(const TensorGraph& graph) {
  TensorGraph split;
  std::vector<TensorId> ids;
  for (const Tensor& tensor : graph.tensors()) {
    const std::vector<Phase> phases = PhasesOf(tensor);
    Compute of_phases;
    if (!phases.empty()) of_phases = OfPhases(tensor.compute, phases);
    if (phases.empty() || !AreApart(of_phases, phases)) {
      ids.push_back(CopyTensor(tensor, ids, split));
      continue;
    }
    for (Expr& body : of_phases.body) body = WithSources(body, ids);
    const TensorId source =
        split.AddCompute(absl::StrCat(tensor.name, ".phases"), tensor.dtype,
                         std::move(of_phases));
    ids.push_back(
        split.AddCompute(tensor.name, tensor.dtype,
                         FromPhases(tensor.compute, phases, source, split)));
  }
  return FinishRewrite(graph, std::move(split), std::move(ids));
}

}  // namespace tilewright
