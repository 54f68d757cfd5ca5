#include "sketch/tree/block_region.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {

RegionDim IteratedRegion(const Expr& binding, int64_t extent,
                         const std::vector<Expr>& predicates,
                         const IsInner& is_inner, const RangeOf& ranges) {
  RegionDim whole;
  whole.base = Expr::Int(0);
  whole.extent = extent;
  whole.exact = false;
  whole.why = absl::StrCat("cannot tell the range of ", binding.ToString());

  const Folded folded = FoldTails({binding}, predicates, is_inner, ranges);
  std::set<int> tail_vars;
  for (const TailVar& tail : folded.tails) tail_vars.insert(tail.var);
  auto is_inner_or_tail = [&](int var) {
    return tail_vars.count(var) != 0 || is_inner(var);
  };
  LinearForm form = ToLinear(folded.bindings[0], folded.ranges);
  LinearForm outer;
  outer.constant = form.constant;
  std::vector<Digit> digits;
  int64_t offset = 0;
  for (size_t t = 0; t < form.terms.size(); ++t) {
    const auto& [term, coefficient] = form.terms[t];
    bool mentions_inner = false, mentions_outer = false;
    Visit(term, [&](const Expr& e) {
      if (e.op() == Op::kVar)
        (is_inner_or_tail(e.var_id()) ? mentions_inner : mentions_outer) = true;
    });
    if (!mentions_inner) {
      outer.terms.push_back(form.terms[t]);
      continue;
    }
    std::optional<Range> range = RangeOfExpr(term, folded.ranges);
    if (mentions_outer || !range) return whole;
    offset += coefficient * (coefficient > 0 ? range->min : range->max);
    if (range->max > range->min)
      digits.push_back({t, std::abs(coefficient), range->max - range->min + 1});
  }
  Walk walk = JoinDigits(form, std::move(digits), offset, folded.predicates,
                         folded.ranges);
  RegionDim region;
  region.base = outer.ToExpr() + Expr::Int(walk.offset);
  region.extent = walk.count;
  region.step = walk.step;
  region.exact = !walk.has_gaps;
  if (walk.has_gaps) region.why = absl::StrCat("gaps in ", binding.ToString());
  // A predicate that neither cut this short nor clips the axis itself may take
  // something away.
  for (size_t i = 0; i < folded.predicates.size(); ++i) {
    const Expr& p = folded.predicates[i];
    bool mentions = false;
    Visit(folded.bindings[0], [&](const Expr& e) {
      mentions =
          mentions || (e.op() == Op::kVar && is_inner_or_tail(e.var_id()) &&
                       Mentions(p, e.var_id()));
    });
    if (!mentions || walk.used.count(i) != 0) continue;
    LinearForm clip = ToLinear(p.operand(0), folded.ranges);
    if ((p.op() == Op::kLt || p.op() == Op::kGe) &&
        clip.constant == form.constant && SameTerms(clip.terms, form.terms))
      continue;
    region.exact = false;
    region.why = absl::StrCat("cannot tell what ", p.ToString(), " leaves");
  }
  return region;
}

absl::StatusOr<std::map<int, Region>> NeededRegions(
    const BlockTree& tree, const Block& block, const std::set<int>& buffers,
    const IsInner& is_inner, const RangeOf& ranges) {
  // The block as a compute of a graph of its own, whose loop variables are
  // numbered behind its axes.
  const int axis_count = static_cast<int>(block.bindings.size());
  auto shift = [](const Expr& e, int by) {
    return Rewrite(e, [by](const Expr& x) {
      return x.op() == Op::kVar ? Expr::Var(x.var_id() + by, x.var_name())
                                : Expr();
    });
  };
  TensorGraph graph;
  std::map<int, TensorId> ids;
  std::set<TensorId> sources;
  for (int loaded : LoadedBuffers(block)) {
    std::vector<int64_t> shape = LogicalShape(tree, loaded);
    ids[loaded] = graph.AddPlaceholder(
        absl::StrCat("b", loaded), tree.buffers[loaded].dtype,
        std::vector<Dim>(shape.begin(), shape.end()));
    if (buffers.count(loaded)) sources.insert(ids[loaded]);
  }
  Compute compute;
  compute.axes = block.axes;
  compute.reduce_axes = block.reduce_axes;
  compute.combiner = block.combiner;
  compute.result = block.result;
  // Loads of its own result determine regions as other loads do.
  const auto over_ids = [&](const Expr& expr) {
    return Rewrite(expr, [&](const Expr& e) {
      if (e.op() != Op::kLoad) return Expr();
      if (ids.count(e.source()) == 0) return Expr::Float(0, e.dtype());
      return Expr::Load(ids[e.source()], e.dtype(),
                        {e.operands().begin(), e.operands().end()});
    });
  };
  for (const Expr& body : block.body) {
    compute.body.push_back(over_ids(body));
    if (block.rescaling)
      compute.body.back() = Expr::Make(
          Op::kAdd, {compute.body.back(), over_ids(block.rescaling)});
    if (!block.guard) continue;
    Expr& guarded = compute.body.back();
    const DType dtype = guarded.dtype();
    guarded = Expr::Make(Op::kSelect, {block.guard, guarded,
                                       IsFloat(dtype) ? Expr::Float(0, dtype)
                                                      : Expr::Int(0, dtype)});
  }
  TensorId id = graph.AddCompute("block", tree.buffers[block.dst[0]].dtype,
                                 std::move(compute));
  std::vector<RegionDim> axes;
  for (size_t i = 0; i < block.bindings.size(); ++i) {
    const Axis& axis = i < block.axes.size()
                           ? block.axes[i]
                           : block.reduce_axes[i - block.axes.size()];
    axes.push_back(IteratedRegion(block.bindings[i], axis.extent.value(),
                                  block.predicates, is_inner, ranges));
    axes.back().base = shift(axes.back().base, axis_count);
  }
  RangeOf shifted = [&](int var) -> std::optional<Range> {
    if (var < axis_count) return std::nullopt;
    return ranges(var - axis_count);
  };
  TW_ASSIGN_OR_RETURN(auto regions,
                      PropagateTo(graph, id, axes, sources, shifted));
  std::map<int, Region> needed;
  for (const auto& [loaded, tensor] : ids) {
    const auto it = regions.find(tensor);
    if (it == regions.end()) continue;
    Region& region =
        needed.emplace(loaded, std::move(it->second)).first->second;
    for (RegionDim& dim : region) dim.base = shift(dim.base, -axis_count);
  }
  return needed;
}

absl::StatusOr<Region> NeededRegion(const BlockTree& tree, const Block& block,
                                    int buffer, const IsInner& is_inner,
                                    const RangeOf& ranges) {
  TW_ASSIGN_OR_RETURN(const auto regions,
                      NeededRegions(tree, block, {buffer}, is_inner, ranges));
  const auto it = regions.find(buffer);
  if (it == regions.end())
    return absl::NotFoundError(
        absl::StrCat(block.name, " does not read ", tree.buffers[buffer].name));
  return it->second;
}

std::vector<Expr> InitPredicates(const Block& block) {
  std::set<int> reduce_loops;
  for (size_t r = 0; r < block.reduce_axes.size(); ++r)
    reduce_loops.merge(VarsOf(ReduceBinding(block, r)));
  return FixedPredicates(block,
                         [&](int var) { return reduce_loops.count(var) != 0; });
}

std::vector<Expr> FixedPredicates(const Block& block, const IsInner& is_inner) {
  std::vector<Expr> fixed;
  for (const Expr& p : block.predicates) {
    bool mentions_inner = false;
    Visit(p, [&](const Expr& e) {
      mentions_inner =
          mentions_inner || (e.op() == Op::kVar && is_inner(e.var_id()));
    });
    if (!mentions_inner) fixed.push_back(p);
  }
  return fixed;
}

std::vector<HeldDim> Hold(const Region& region,
                          const std::vector<int64_t>& shape,
                          const RangeOf& ranges) {
  TW_CHECK_EQ(region.size(), shape.size());
  std::vector<HeldDim> held;
  for (size_t i = 0; i < region.size(); ++i) {
    const RegionDim& dim = region[i];
    int64_t extent = (dim.extent - 1) * dim.step + 1;
    std::optional<Range> base = RangeOfExpr(dim.base, ranges);
    if (!base || extent >= shape[i]) {
      held.push_back({Expr::Int(0), shape[i]});
    } else if (base->min == base->max) {
      int64_t from = std::max<int64_t>(base->min, 0),
              to = std::min(base->min + extent, shape[i]);
      // Nothing that exists is needed: the loads are guarded, one element keeps
      // the box well formed.
      held.push_back(from < to ? HeldDim{Expr::Int(from), to - from}
                               : HeldDim{Expr::Int(0), 1});
    } else {
      held.push_back({Simplify(dim.base, ranges), extent,
                      base->min<0, base->max + extent> shape[i]});
    }
  }
  return held;
}

}  // namespace tilewright::sketch
