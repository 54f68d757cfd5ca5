#include "sketch/rules/shared/reduce_loops.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ceil_div.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/rules/shared/like_terms.h"
#include "tilegraph/expr/expr_vars.h"

namespace tilewright::sketch {
namespace {

// Sums of up to `most_terms` are left in one piece; longer ones get blocks of
// about `block` terms, between the bounds where that makes them divide.
struct BlockSizes {
  int64_t most_terms, block, fewest, most;
};

// Of products of two tensors: their roundings go to either side.
constexpr BlockSizes kOfProducts = {896, 480, 256, 768};
// Of what one tensor holds (like_terms.h).
BlockSizes OfLikeTerms(int64_t terms) {
  const auto block =
      static_cast<int64_t>(std::llround(LikeTermsOfABlock(terms)));
  return {kMostLikeTerms, block, CeilDiv(block, 2), 2 * block};
}

bool ReadsOneTensor(absl::Span<const Expr> body) {
  std::set<TensorId> sources;
  ForEachLoad(body, [&](const Expr& load) { sources.insert(load.source()); });
  return sources.size() == 1;
}

constexpr int64_t kLeastBlockTerms = 16;  // of any decision

// How the operands that no layout of ours packs read along one reduce axis.
struct AxisUse {
  int64_t layout_block = 1;  // inner part of a blocked layout
  bool slides = false;       // a window: spatial axes move the same index
  bool along_lanes = false;  // that of the lanes among them
  bool gathers = false;      // and its neighbours do not lie side by side
  bool contiguous = false;   // neighbours lie side by side
};

AxisUse UseOf(const Workload& workload, const Tensor& reduction, int axis,
              absl::Span<const Expr> body, int lanes) {
  const int var = static_cast<int>(reduction.compute.axes.size()) + axis;
  const int64_t extent = reduction.compute.reduce_axes[axis].extent.value();
  AxisUse use;
  ForEachLoad(body, [&](const Expr& load) {
    if (workload.graph.tensor(load.source()).kind == TensorKind::kConstant)
      return;
    const Layout layout = workload.LayoutOf(load.source());
    for (size_t d = 0; d < load.operands().size(); ++d) {
      const Expr& index = load.operand(static_cast<int>(d));
      bool mentions = false, others = false;
      Visit(index, [&](const Expr& e) {
        if (e.op() != Op::kVar) return;
        mentions |= e.var_id() == var;
        others |= e.var_id() != var;
      });
      if (!mentions) continue;
      use.slides |= others;
      const Layout::Digit& last = layout.digits().back();
      const bool along_lanes = Mentions(index, lanes);
      use.along_lanes |= along_lanes;
      use.gathers |= along_lanes && last.dim != static_cast<int>(d);
      if (last.dim != static_cast<int>(d)) continue;
      use.contiguous |= !others;
      if (index.op() == Op::kVar && last.extent < extent &&
          extent % last.extent == 0)
        use.layout_block = last.extent;
    }
  });
  return use;
}

// Into how many blocks a loop of `extent` steps goes if each step has `terms`
// terms: the divisor of the extent that gives blocks closest to the wanted
// size, else blocks of that size with a shorter last one.
int64_t BlocksOf(int64_t extent, int64_t terms, const BlockSizes& sizes) {
  int64_t best = 1;
  for (int64_t blocks = 1; blocks <= extent; ++blocks) {
    const int64_t size = extent / blocks * terms;
    if (extent % blocks != 0 || size < sizes.fewest || size > sizes.most)
      continue;
    const int64_t best_size = extent / best * terms;
    if (std::abs(size - sizes.block) < std::abs(best_size - sizes.block))
      best = blocks;
  }
  if (best > 1) return best;
  const int64_t steps = std::max<int64_t>(1, sizes.block / terms);
  // Evenly: a last block of a few terms costs as much code as a whole one.
  const int64_t blocks = CeilDiv(extent, steps);
  return CeilDiv(extent, CeilDiv(extent, blocks));
}

// How an axis is cut into blocks.
struct Blocks {
  int axis = -1;
  int64_t steps = 0;
};

class LoopDecider {
 public:
  LoopDecider(Decider& decider, const Workload& workload,
              const Tensor& reduction, absl::Span<const Expr> body, int lanes,
              const TermGroup& group, const GivenBlocks& given,
              absl::Span<const Edge> edges)
      : decider_(decider),
        axes_(reduction.compute.reduce_axes),
        rank_(static_cast<int>(axes_.size())),
        group_(group),
        given_(given),
        combiner_(*reduction.compute.combiner),
        sums_(combiner_.kind() == Combiner::Kind::kSum),
        bits_(sums_ && !IsFloat(combiner_.acc()) ? Bits::kSame
                                                 : Bits::kMayChange) {
    for (int axis = 0; axis < rank_; ++axis) {
      uses_.push_back(UseOf(workload, reduction, axis, body, lanes));
      const int64_t extent = axes_[axis].extent.value();
      const int64_t block = uses_[axis].layout_block;
      loops_.factors.push_back(block > 1
                                   ? std::vector<int64_t>{extent / block, block}
                                   : std::vector<int64_t>{extent});
      terms_ *= extent;
    }
    terms_ = MostTermsOf(edges, terms_);
    of_like_terms_ = ReadsOneTensor(body);
    sizes_ = of_like_terms_ ? OfLikeTerms(terms_) : kOfProducts;
  }

  ReduceLoops Run() {
    CutBlocks(given_.axis >= 0 ? Given() : DecideBlocks());
    OrderByRule();
    DecideOrder();
    GroupTerms();
    return std::move(loops_);
  }

 private:
  int64_t Steps(int axis) const { return loops_.factors[axis][0]; }
  int64_t TermsOfStep(int axis) const {
    return std::max<int64_t>(1, terms_ / Steps(axis));
  }

  // Steps that stay in one block: those of a group.
  int64_t Grain(int axis) const {
    if (group_.axis != axis || uses_[axis].layout_block % group_.terms == 0)
      return 1;
    return group_.terms;
  }

  Blocks Given() const {
    const int64_t grain = Grain(given_.axis);
    const int64_t unit = uses_[given_.axis].layout_block * grain;
    return {given_.axis, CeilDiv(given_.terms, unit) * grain};
  }

  // Chooses blocks of the axis of most steps; none if the sum is short.
  Blocks BlocksByRule() const {
    int longest = -1;
    for (int axis = 0; axis < rank_; ++axis) {
      if (longest < 0 || Steps(axis) > Steps(longest)) longest = axis;
    }
    if (!sums_ || !IsFloat(combiner_.acc()) || terms_ <= sizes_.most_terms ||
        LeastGrains(longest) > MostGrains(longest))
      return {};
    const int64_t steps = StepsByRule(longest);
    if (steps >= Steps(longest)) return {};
    return {longest, steps};
  }

  int64_t StepsByRule(int axis) const {
    return CeilDiv(Steps(axis),
                   BlocksOf(Steps(axis), TermsOfStep(axis), sizes_));
  }

  // "reduce.block" counts grains. Fewer terms than kLeastBlockTerms are not
  // worth adding up; a block of all of them is none.
  int64_t LeastGrains(int axis) const {
    return CeilDiv(kLeastBlockTerms, TermsOfStep(axis) * Grain(axis));
  }
  int64_t MostGrains(int axis) const {
    return CeilDiv(Steps(axis), Grain(axis)) - 1;
  }

  static std::string RoleOf(int axis) { return absl::StrCat("r", axis); }

  Blocks DecideBlocks() {
    if (!sums_ || terms_ == 0) return {};
    std::vector<int> axes;
    std::vector<std::string> names;
    for (int axis = 0; axis < rank_; ++axis) {
      if (LeastGrains(axis) > MostGrains(axis)) continue;
      axes.push_back(axis);
      names.push_back(RoleOf(axis));
    }
    if (axes.empty()) return {};
    const Blocks rule = BlocksByRule();
    // Longer blocks would err by more than is allowed, if rarely: no search
    // would see it.
    if (of_like_terms_ && rule.axis >= 0) return rule;
    const bool blocked =
        decider_.DecideNumber(
            "reduce", Space::OneOf({"whole", "blocked"}),
            [&] { return rule.axis >= 0 ? 1 : 0; }, bits_) == 1;
    if (!blocked) return {};
    const auto longest = [&] {
      size_t best = 0;
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i] == rule.axis) return static_cast<int64_t>(i);
        if (Steps(axes[i]) > Steps(axes[best])) best = i;
      }
      return static_cast<int64_t>(best);
    };
    const int axis = axes[decider_.DecideNumber(
        "reduce.axis", Space::OneOf(names), longest, bits_)];
    const int64_t least = LeastGrains(axis), most = MostGrains(axis);
    const int64_t grains = decider_.DecideNumber(
        "reduce.block", Space::Integers(least, most),
        [&] {
          return std::clamp(CeilDiv(StepsByRule(axis), Grain(axis)), least,
                            most);
        },
        bits_);
    return {axis, grains * Grain(axis)};
  }

  void CutBlocks(const Blocks& blocks) {
    if (blocks.axis < 0 || blocks.steps >= Steps(blocks.axis)) return;
    std::vector<int64_t>& factors = loops_.factors[blocks.axis];
    const int64_t count = CeilDiv(factors[0], blocks.steps);
    factors[0] = blocks.steps;
    factors.insert(factors.begin(), count);
    loops_.blocked = true;
    loops_.order.push_back({blocks.axis, 0});
  }

  // The inner part of an axis that a layout keeps in blocks.
  bool IsInner(const ReduceLoops::Part& part) const {
    return uses_[part.axis].layout_block > 1 &&
           part.part + 1 == static_cast<int>(loops_.factors[part.axis].size());
  }

  // How far inside a loop belongs. Outside, what makes the operands jump: outer
  // parts of blocked layouts, then windows; inside, what they keep side by
  // side. A window's step reads again what its neighbours read: laid out in a
  // row, they would share loads and keep them in registers that the
  // accumulators need. Where lanes gather, a load costs more than those
  // registers: windows are inside, and innermost those along tiles, whose
  // neighbours read the same vectors.
  enum class Depth {
    kOuterOfLayout,
    kWindow,
    kApart,
    kSideBySide,
    kInnerOfLayout,
    kGatheredWindow,
    kGatheredWindowOfTiles,
  };
  Depth DepthOf(const ReduceLoops::Part& part, bool gathers) const {
    const AxisUse& use = uses_[part.axis];
    if (IsInner(part)) return Depth::kInnerOfLayout;
    if (use.layout_block > 1) return Depth::kOuterOfLayout;
    if (!use.slides) return use.contiguous ? Depth::kSideBySide : Depth::kApart;
    if (!gathers) return Depth::kWindow;
    return use.along_lanes ? Depth::kGatheredWindow
                           : Depth::kGatheredWindowOfTiles;
  }

  // The loop over blocks stays outermost.
  void OrderByRule() {
    const bool gathers =
        std::any_of(uses_.begin(), uses_.end(),
                    [](const AxisUse& use) { return use.gathers; });
    const int blocked = loops_.blocked ? loops_.order[0].axis : -1;
    for (int axis = 0; axis < rank_; ++axis) {
      const int parts = static_cast<int>(loops_.factors[axis].size());
      for (int part = axis == blocked ? 1 : 0; part < parts; ++part)
        loops_.order.push_back({axis, part});
    }
    std::stable_sort(
        loops_.order.begin() + (loops_.blocked ? 1 : 0), loops_.order.end(),
        [&](const ReduceLoops::Part& a, const ReduceLoops::Part& b) {
          return DepthOf(a, gathers) < DepthOf(b, gathers);
        });
  }

  // Another order of the loops of several steps.
  void DecideOrder() {
    std::vector<size_t> places;
    std::vector<std::string> names;
    for (size_t i = loops_.blocked ? 1 : 0; i < loops_.order.size(); ++i) {
      const ReduceLoops::Part& part = loops_.order[i];
      if (loops_.extent(part) <= 1) continue;
      places.push_back(i);
      names.push_back(
          absl::StrCat(RoleOf(part.axis), IsInner(part) ? ".inner" : ""));
    }
    if (places.size() < 2) return;
    // Sorted: the space does not depend on the rule.
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    const DecisionValue value = decider_.Decide(
        "reduce.order", Space::Permutation(sorted),
        [&] {
          DecisionValue rule;
          for (const std::string& name : names)
            rule.push_back(std::find(sorted.begin(), sorted.end(), name) -
                           sorted.begin());
          return rule;
        },
        bits_);
    const std::vector<ReduceLoops::Part> rule = loops_.order;
    for (size_t i = 0; i < places.size(); ++i) {
      const auto name = std::find(names.begin(), names.end(), sorted[value[i]]);
      loops_.order[places[i]] = rule[places[name - names.begin()]];
    }
  }

  void GroupTerms() {
    if (group_.axis < 0) return;
    std::vector<int64_t>& factors = loops_.factors[group_.axis];
    factors.back() = CeilDiv(factors.back(), group_.terms);
    factors.push_back(group_.terms);
    loops_.order.push_back({group_.axis, static_cast<int>(factors.size()) - 1});
    loops_.grouped = true;
  }

  Decider& decider_;
  const std::vector<Axis>& axes_;
  const int rank_;
  const TermGroup& group_;
  const GivenBlocks& given_;
  const Combiner& combiner_;
  const bool sums_;
  const Bits bits_;
  std::vector<AxisUse> uses_;
  int64_t terms_ = 1;  // the most of an element that are not known zeros
  bool of_like_terms_ = false;
  BlockSizes sizes_;
  ReduceLoops loops_;
};

}  // namespace

int64_t ReduceLoops::divisor(const Part& part) const {
  int64_t divisor = 1;
  for (size_t i = part.part + 1; i < factors[part.axis].size(); ++i)
    divisor *= factors[part.axis][i];
  return divisor;
}

ReduceLoops DecideReduceLoops(Decider& decider, const Workload& workload,
                              const Tensor& reduction,
                              absl::Span<const Expr> body, int lanes,
                              const TermGroup& group, const GivenBlocks& given,
                              absl::Span<const Edge> edges) {
  return LoopDecider(decider, workload, reduction, body, lanes, group, given,
                     edges)
      .Run();
}

}  // namespace tilewright::sketch
