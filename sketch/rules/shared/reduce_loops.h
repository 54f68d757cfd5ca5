// The loops over a contraction's reduce axes: the parts each axis is cut into,
// and the order in which they nest around a register tile.
//
// Long sums of floats are cut into blocks of terms. A block's partial sums
// start from zero and are added up block by block: rounding errors then grow
// with the length of a block and the number of blocks instead of with the
// number of terms (Higham, "Accuracy and Stability of Numerical Algorithms",
// 4.2), and one block's panel of the loaded operand stays in a cache while all
// rows of a task pass over it.
//
// Long sums of what one tensor holds, whose terms may be alike, are cut by rule
// alone, into shorter blocks than sums of products.
//
//   reduce        whole or blocked: in one piece, or block by block
//   reduce.axis   the axis that is cut into blocks
//   reduce.block  steps of one block; a step is what the operands keep together
//   reduce.order  the loops over the terms (of a block), outermost first
//
// Reduce axes are called r0, r1, ... as the graph has them; rN.inner runs over
// what the operands' layouts keep together.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_REDUCE_LOOPS_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_REDUCE_LOOPS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "sketch/rules/shared/find_edges.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

struct ReduceLoops {
  struct Part {
    int axis;  // reduce axis
    int part;  // of `factors[axis]`
  };

  // By reduce axis: extents of its parts, outermost first. The first may reach
  // beyond the axis.
  std::vector<std::vector<int64_t>> factors;
  std::vector<Part> order;  // all parts, outermost first
  bool blocked = false;     // order[0] is the loop over blocks of terms
  bool grouped = false;     // order.back() runs over the terms of one group

  int64_t extent(const Part& part) const {
    return factors[part.axis][part.part];
  }
  // Elements of the axis between neighbours along the part.
  int64_t divisor(const Part& part) const;
};

// Neighbouring terms that are summed together; none by default.
struct TermGroup {
  int axis = -1;  // reduce axis, of a multiple of `terms`
  int64_t terms = 1;
};

// Terms of one axis that make a block, where that is decided already; rounded
// up to what the group and the operands' layouts keep together.
struct GivenBlocks {
  int axis = -1;
  int64_t terms = 0;
};

// Nothing is asked about blocks that are given; only sums are cut. `body`: of
// the reduction, its prologue inlined; `lanes`: the axis of the output that
// vectors run along. Terms that are known zeros by `edges`, of the same body,
// do not count: adding them rounds nothing.
ReduceLoops DecideReduceLoops(Decider& decider, const Workload& workload,
                              const Tensor& reduction,
                              absl::Span<const Expr> body, int lanes,
                              const TermGroup& group = {},
                              const GivenBlocks& given = {},
                              absl::Span<const Edge> edges = {});

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_REDUCE_LOOPS_H_
