#include "sketch/reduce_loops.h"

#include <algorithm>
#include <cstdlib>

#include "base/ceil_div.h"
#include "sketch/group_chain.h"

namespace tilewright::sketch {
namespace {

// Sums of up to this many terms are left in one piece; longer ones get blocks
// of about the wanted size, between the bounds where that makes them divide.
constexpr int64_t kMaxTerms = 896;
constexpr int64_t kBlockTerms = 480;
constexpr int64_t kFewestBlockTerms = 256;
constexpr int64_t kMostBlockTerms = 768;

// How the operands that no layout of ours packs read along one reduce axis.
struct AxisUse {
  int64_t layout_block = 1;  // inner part of a blocked layout
  bool slides = false;       // a window: spatial axes move the same index
  bool contiguous = false;   // neighbours lie side by side
};

AxisUse UseOf(const Workload& workload, const Tensor& reduction, int axis,
              absl::Span<const Expr> body) {
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
int64_t BlocksOf(int64_t extent, int64_t terms) {
  int64_t best = 1;
  for (int64_t blocks = 1; blocks <= extent; ++blocks) {
    const int64_t size = extent / blocks * terms;
    if (extent % blocks != 0 || size < kFewestBlockTerms ||
        size > kMostBlockTerms)
      continue;
    const int64_t best_size = extent / best * terms;
    if (std::abs(size - kBlockTerms) < std::abs(best_size - kBlockTerms))
      best = blocks;
  }
  if (best > 1) return best;
  const int64_t steps = std::max<int64_t>(1, kBlockTerms / terms);
  // Evenly: a last block of a few terms costs as much code as a whole one.
  const int64_t blocks = CeilDiv(extent, steps);
  return CeilDiv(extent, CeilDiv(extent, blocks));
}

}  // namespace

int64_t ReduceLoops::divisor(const Part& part) const {
  int64_t divisor = 1;
  for (size_t i = part.part + 1; i < factors[part.axis].size(); ++i)
    divisor *= factors[part.axis][i];
  return divisor;
}

ReduceLoops ChooseReduceLoops(const Workload& workload, const Tensor& reduction,
                              absl::Span<const Expr> body,
                              const TermGroup& group,
                              const GivenBlocks& given) {
  const std::vector<Axis>& axes = reduction.compute.reduce_axes;
  const int rank = static_cast<int>(axes.size());
  ReduceLoops loops;
  std::vector<AxisUse> uses;
  int64_t terms = 1;
  for (int axis = 0; axis < rank; ++axis) {
    uses.push_back(UseOf(workload, reduction, axis, body));
    const int64_t extent = axes[axis].extent.value();
    const int64_t block = uses[axis].layout_block;
    loops.factors.push_back(block > 1
                                ? std::vector<int64_t>{extent / block, block}
                                : std::vector<int64_t>{extent});
    terms *= extent;
  }

  const Combiner& combiner = *reduction.compute.combiner;
  int longest = -1;
  for (int axis = 0; axis < rank; ++axis) {
    if (longest < 0 || loops.factors[axis][0] > loops.factors[longest][0])
      longest = axis;
  }
  if (given.axis >= 0) longest = given.axis;
  std::vector<int64_t>& cut = loops.factors[longest];
  const int64_t extent = cut[0];
  int64_t steps = extent;  // of a block
  if (given.axis >= 0) {
    int64_t unit = uses[longest].layout_block;
    if (group.axis == longest && unit % group.terms != 0) unit *= group.terms;
    steps = CeilDiv(given.terms, unit) * unit / uses[longest].layout_block;
  } else if (combiner.kind() == Combiner::Kind::kSum &&
             IsFloat(combiner.acc()) && terms > kMaxTerms && extent > 1) {
    steps = CeilDiv(extent, BlocksOf(extent, terms / extent));
  }
  if (steps < extent) {
    cut[0] = steps;
    cut.insert(cut.begin(), CeilDiv(extent, steps));
    loops.blocked = true;
    loops.order.push_back({longest, 0});
  }

  // Outside, what makes the operands jump: outer parts of blocked layouts, then
  // windows; inside, what they keep side by side. A window's step reads again
  // what its neighbours read: laid out in a row, they would share loads and
  // keep them in registers that the accumulators need.
  const auto add = [&](const auto& wanted) {
    for (int axis = 0; axis < rank; ++axis) {
      const int parts = static_cast<int>(loops.factors[axis].size());
      for (int part = loops.blocked && axis == longest ? 1 : 0; part < parts;
           ++part) {
        const bool inner = uses[axis].layout_block > 1 && part == parts - 1;
        if (wanted(uses[axis], inner)) loops.order.push_back({axis, part});
      }
    }
  };
  add([](const AxisUse& use, bool inner) {
    return use.layout_block > 1 && !inner;
  });
  add([](const AxisUse& use, bool) {
    return use.layout_block == 1 && use.slides;
  });
  add([](const AxisUse& use, bool) {
    return use.layout_block == 1 && !use.slides && !use.contiguous;
  });
  add([](const AxisUse& use, bool) {
    return use.layout_block == 1 && !use.slides && use.contiguous;
  });
  add([](const AxisUse& use, bool inner) {
    return use.layout_block > 1 && inner;
  });
  if (group.axis >= 0) {
    std::vector<int64_t>& factors = loops.factors[group.axis];
    factors.back() = CeilDiv(factors.back(), group.terms);
    factors.push_back(group.terms);
    loops.order.push_back({group.axis, static_cast<int>(factors.size()) - 1});
    loops.grouped = true;
  }
  return loops;
}

}  // namespace tilewright::sketch
