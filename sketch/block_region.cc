#include "sketch/block_region.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "sketch/tree_edit.h"

namespace tilewright::sketch {
namespace {

using Terms = std::vector<std::pair<Expr, int64_t>>;

// One term of a binding as a digit of mixed radix: coefficient · (offset +
// 0..extent-1), offset already taken out.
struct Digit {
  size_t term;  // in LinearForm::terms
  int64_t coefficient;
  int64_t extent;
};

bool SameTerms(const Terms& a, const Terms& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].second != b[i].second || a[i].first != b[i].first) return false;
  }
  return true;
}

// Loops of one iteration may stand in one expression and not in another.
void DropZeroTerms(LinearForm& form, const RangeOf& ranges) {
  auto is_zero = [&](const std::pair<Expr, int64_t>& term) {
    std::optional<Range> range = RangeOfExpr(term.first, ranges);
    return range && range->min == 0 && range->max == 0;
  };
  form.terms.erase(
      std::remove_if(form.terms.begin(), form.terms.end(), is_zero),
      form.terms.end());
}

// The largest value of the sum of `terms` that some predicate admits; the
// predicates that say so are added to `used`.
std::optional<int64_t> UpperBound(const Terms& terms,
                                  const std::vector<Expr>& predicates,
                                  const RangeOf& ranges,
                                  std::set<size_t>& used) {
  std::optional<int64_t> bound;
  for (size_t i = 0; i < predicates.size(); ++i) {
    const Expr& p = predicates[i];
    Expr difference;  // predicate: difference + slack <= 0
    int64_t slack = 0;
    switch (p.op()) {
      case Op::kLt:
        difference = p.operand(0) - p.operand(1);
        slack = 1;
        break;
      case Op::kLe:
        difference = p.operand(0) - p.operand(1);
        break;
      case Op::kGt:
        difference = p.operand(1) - p.operand(0);
        slack = 1;
        break;
      case Op::kGe:
        difference = p.operand(1) - p.operand(0);
        break;
      default:
        continue;
    }
    LinearForm form = ToLinear(difference, ranges);
    DropZeroTerms(form, ranges);
    if (!SameTerms(form.terms, terms)) continue;
    used.insert(i);
    int64_t candidate = -form.constant - slack;
    bound = bound ? std::min(*bound, candidate) : candidate;
  }
  return bound;
}

// Where a split left a tail, its value X stands in the bindings and a predicate
// says X < extent. Then X is as good as a variable of that extent: it is
// replaced by one, here and in the values of the splits around it.
struct TailVar {
  int var;
  Expr value;
  int64_t extent;
};
struct Folded {
  std::vector<Expr> bindings;
  std::vector<Expr> predicates;  // the others
  std::vector<TailVar> tails;
  RangeOf ranges;
};

int64_t CountNodes(const Expr& e) {
  int64_t count = 1;
  for (const Expr& operand : e.operands()) count += CountNodes(operand);
  return count;
}

Folded FoldTails(std::vector<Expr> bindings,
                 const std::vector<Expr>& predicates, const IsInner& is_inner,
                 const RangeOf& ranges) {
  constexpr int kFirstTailVar = 1 << 28;
  Folded folded;
  folded.bindings = std::move(bindings);
  std::vector<Expr> pending = predicates;
  // What is inside another value comes first.
  std::stable_sort(pending.begin(), pending.end(),
                   [](const Expr& a, const Expr& b) {
                     return CountNodes(a) < CountNodes(b);
                   });
  for (size_t i = 0; i < pending.size(); ++i) {
    const Expr p = pending[i];
    bool is_tail = p.op() == Op::kLt && p.operand(1).op() == Op::kConst &&
                   p.operand(0).op() != Op::kVar &&
                   p.operand(0).op() != Op::kConst;
    std::map<int, int64_t> extents;
    for (const TailVar& tail : folded.tails) extents[tail.var] = tail.extent;
    folded.ranges = [ranges, extents](int var) -> std::optional<Range> {
      auto it = extents.find(var);
      return it == extents.end() ? ranges(var) : Range{0, it->second - 1};
    };
    if (is_tail) {
      Visit(p.operand(0), [&](const Expr& e) {
        if (e.op() == Op::kVar && e.var_id() < kFirstTailVar &&
            !is_inner(e.var_id()))
          is_tail = false;
      });
    }
    if (is_tail) {
      std::optional<Range> range = RangeOfExpr(p.operand(0), folded.ranges);
      is_tail = range && range->min == 0 && p.operand(1).int_value() >= 1 &&
                range->max >= p.operand(1).int_value();
    }
    if (!is_tail) {
      folded.predicates.push_back(p);
      continue;
    }
    TailVar tail{kFirstTailVar + static_cast<int>(folded.tails.size()),
                 p.operand(0), p.operand(1).int_value()};
    const Expr var = Expr::Var(tail.var, "tail");
    bool occurs = false;
    auto replace = [&](Expr& where) {
      where = Rewrite(where, [&](const Expr& e) {
        if (e != tail.value) return Expr();
        occurs = true;
        return var;
      });
    };
    for (Expr& binding : folded.bindings) replace(binding);
    for (size_t j = i + 1; j < pending.size(); ++j) replace(pending[j]);
    if (occurs) {
      folded.tails.push_back(std::move(tail));
    } else {
      folded.predicates.push_back(p);
    }
  }
  std::map<int, int64_t> extents;
  for (const TailVar& tail : folded.tails) extents[tail.var] = tail.extent;
  folded.ranges = [ranges, extents](int var) -> std::optional<Range> {
    auto it = extents.find(var);
    return it == extents.end() ? ranges(var) : Range{0, it->second - 1};
  };
  return folded;
}

// Digits in ascending order of coefficient, joined one after the other; `count`
// values, `step` apart, from `offset` on.
struct Walk {
  int64_t offset = 0;
  int64_t count = 1;
  int64_t step = 1;
  bool has_gaps = false;
  bool has_overlaps = false;
  std::set<size_t> used;  // predicates that cut it
};

Walk JoinDigits(const LinearForm& form, std::vector<Digit> digits,
                int64_t offset, const std::vector<Expr>& predicates,
                const RangeOf& ranges) {
  Walk walk;
  walk.offset = offset;
  std::stable_sort(digits.begin(), digits.end(),
                   [](const Digit& a, const Digit& b) {
                     return a.coefficient < b.coefficient;
                   });
  int64_t gcd = 0;
  for (const Digit& d : digits) gcd = std::gcd(gcd, d.coefficient);
  walk.step = std::max<int64_t>(gcd, 1);
  std::vector<size_t> joined;
  // A predicate on the digits joined so far cuts off the values of a tail.
  // (Digits with an offset are never cut.)
  auto cut = [&] {
    if (offset != 0) return;
    Terms terms;
    std::vector<size_t> sorted = joined;
    std::sort(sorted.begin(), sorted.end());
    for (size_t t : sorted) terms.push_back(form.terms[t]);
    std::optional<int64_t> bound =
        UpperBound(terms, predicates, ranges, walk.used);
    if (bound && *bound >= 0)
      walk.count = std::min(walk.count, *bound / walk.step + 1);
  };
  for (const Digit& d : digits) {
    if (d.coefficient < walk.count * walk.step) cut();
    walk.has_overlaps |= d.coefficient < walk.count * walk.step;
    walk.has_gaps |= d.coefficient > walk.count * walk.step;
    walk.count += d.coefficient / walk.step * (d.extent - 1);
    joined.push_back(d.term);
  }
  cut();
  return walk;
}

}  // namespace

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

absl::StatusOr<Region> NeededRegion(const BlockTree& tree, const Block& block,
                                    int buffer, const IsInner& is_inner,
                                    const RangeOf& ranges) {
  // The block as a compute of a graph of its own, whose loop variables are
  // numbered apart from its axes.
  constexpr int kShift = 1 << 20;
  auto shift = [](const Expr& e, int by) {
    return Rewrite(e, [by](const Expr& x) {
      return x.op() == Op::kVar ? Expr::Var(x.var_id() + by, x.var_name())
                                : Expr();
    });
  };
  TensorGraph graph;
  std::map<int, TensorId> ids;
  for (int loaded : LoadedBuffers(block)) {
    std::vector<int64_t> shape = LogicalShape(tree, loaded);
    ids[loaded] = graph.AddPlaceholder(
        absl::StrCat("b", loaded), tree.buffers[loaded].dtype,
        std::vector<Dim>(shape.begin(), shape.end()));
  }
  if (ids.count(buffer) == 0)
    return absl::NotFoundError(
        absl::StrCat(block.name, " does not read ", tree.buffers[buffer].name));
  Compute compute;
  compute.axes = block.axes;
  compute.reduce_axes = block.reduce_axes;
  compute.combiner = block.combiner;
  compute.result = block.result;
  for (const Expr& body : block.body) {
    compute.body.push_back(Rewrite(body, [&](const Expr& e) {
      if (e.op() != Op::kLoad) return Expr();
      return Expr::Load(ids[e.source()], e.dtype(),
                        {e.operands().begin(), e.operands().end()});
    }));
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
    axes.back().base = shift(axes.back().base, kShift);
  }
  RangeOf shifted = [&](int var) -> std::optional<Range> {
    if (var < kShift) return std::nullopt;
    return ranges(var - kShift);
  };
  TW_ASSIGN_OR_RETURN(auto regions, PropagateOne(graph, id, axes, shifted));
  auto it = regions.find(ids[buffer]);
  if (it == regions.end())
    return absl::NotFoundError(
        absl::StrCat("no region of ", tree.buffers[buffer].name));
  Region region = it->second;
  for (RegionDim& dim : region) dim.base = shift(dim.base, -kShift);
  return region;
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

namespace {

// A digit of a loop variable: (var floordiv div) mod extent.
struct VarDigit {
  int var;
  int64_t div;
  int64_t extent;
};

std::optional<VarDigit> AsDigit(const Expr& term, const RangeOf& ranges) {
  if (term.op() == Op::kVar) {
    std::optional<Range> range = ranges(term.var_id());
    if (!range || range->min != 0) return std::nullopt;
    return VarDigit{term.var_id(), 1, range->max + 1};
  }
  if (term.op() != Op::kFloorDiv && term.op() != Op::kFloorMod)
    return std::nullopt;
  if (term.operand(1).op() != Op::kConst) return std::nullopt;
  std::optional<VarDigit> inner = AsDigit(term.operand(0), ranges);
  int64_t by = term.operand(1).int_value();
  if (!inner || by < 1) return std::nullopt;
  if (term.op() == Op::kFloorMod) {
    if (inner->extent % by != 0 && inner->extent > by) return std::nullopt;
    return VarDigit{inner->var, inner->div, std::min(inner->extent, by)};
  }
  if (inner->extent % by != 0) return std::nullopt;
  return VarDigit{inner->var, inner->div * by, inner->extent / by};
}

// Whether the digits of one variable are its mixed-radix form, each digit once.
Coverage DigitsCover(std::vector<VarDigit> digits, int64_t extent) {
  digits.erase(std::remove_if(digits.begin(), digits.end(),
                              [](const VarDigit& d) { return d.extent == 1; }),
               digits.end());
  std::sort(digits.begin(), digits.end(),
            [](const VarDigit& a, const VarDigit& b) { return a.div < b.div; });
  int64_t product = 1;
  for (const VarDigit& d : digits) {
    if (d.div != product) return Coverage::kNo;
    product *= d.extent;
  }
  return product == extent ? Coverage::kYes : Coverage::kNo;
}

}  // namespace

Coverage CoversOnce(const Block& block, size_t first, size_t count,
                    const std::vector<const Loop*>& loops,
                    const RangeOf& loop_ranges) {
  // The values of splits with a tail are axes like those of the block: each of
  // their values must be taken once, too.
  const Folded folded = FoldTails(
      block.bindings, block.predicates, [](int) { return true; }, loop_ranges);
  struct Covered {
    Expr binding;
    int64_t extent;
    bool asked;
    bool is_cut;  // a predicate keeps it below its extent
  };
  std::vector<Covered> axes;
  for (size_t a = 0; a < folded.bindings.size(); ++a) {
    const Axis& axis = a < block.axes.size()
                           ? block.axes[a]
                           : block.reduce_axes[a - block.axes.size()];
    axes.push_back({folded.bindings[a], axis.extent.value(),
                    a >= first && a < first + count, false});
  }
  std::map<int, int64_t> extents;
  for (const Loop* loop : loops) extents[loop->var] = loop->extent;
  for (auto tail = folded.tails.rbegin(); tail != folded.tails.rend(); ++tail) {
    bool asked = std::any_of(axes.begin(), axes.end(), [&](const Covered& a) {
      return a.asked && Mentions(a.binding, tail->var);
    });
    axes.push_back({tail->value, tail->extent, asked, true});
    if (asked) extents[tail->var] = tail->extent;
  }

  // A loop may be fused from several axes: its digits are looked for in all of
  // them.
  std::map<int, std::vector<VarDigit>> digits_of;
  bool all_known = true;
  for (const Covered& axis : axes) {
    LinearForm form = ToLinear(axis.binding, folded.ranges);
    std::vector<Digit> digits;
    bool known = form.constant == 0;
    for (size_t t = 0; t < form.terms.size(); ++t) {
      std::optional<VarDigit> digit =
          AsDigit(form.terms[t].first, folded.ranges);
      known = known && digit && form.terms[t].second > 0;
      if (!digit) continue;
      digits_of[digit->var].push_back(*digit);
      if (digit->extent > 1)
        digits.push_back({t, form.terms[t].second, digit->extent});
    }
    all_known = all_known && known;
    if (!axis.asked) continue;
    if (!known) return Coverage::kUnknown;
    Walk walk = JoinDigits(form, std::move(digits), 0, folded.predicates,
                           folded.ranges);
    if (axis.is_cut) walk.count = std::min(walk.count, axis.extent);
    if (walk.has_gaps || walk.count < axis.extent ||
        (walk.step != 1 && walk.count != 1))
      return Coverage::kNo;
    // Too much, unless a predicate in another form cuts it off.
    if (walk.has_overlaps || walk.count > axis.extent)
      return folded.predicates.empty() ? Coverage::kNo : Coverage::kUnknown;
  }
  for (const auto& [var, extent] : extents) {
    if (extent == 1) continue;
    if (DigitsCover(digits_of[var], extent) != Coverage::kYes)
      return all_known ? Coverage::kNo : Coverage::kUnknown;
  }
  return Coverage::kYes;
}

}  // namespace tilewright::sketch
