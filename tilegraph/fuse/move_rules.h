// Which elementwise computes may move from a register group to another, and the
// plan after such moves (local_moves.h).
#ifndef TILEWRIGHT_TILEGRAPH_FUSE_MOVE_RULES_H_
#define TILEWRIGHT_TILEGRAPH_FUSE_MOVE_RULES_H_

#include <vector>

#include "absl/types/span.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// Members go from one group of a plan to another; groups by their index.
struct LocalMove {
  int from;
  std::vector<TensorId> moved;  // its last members, ascending; perhaps all
  int to;                       // -1: they become a group of their own
};

// All moves after each of which every group is still one that generators of
// schedules know: elementwise computes alone, none evaluated twice; rows; or a
// reduction and what follows it. Results that are views, or have views, stay
// where they are. `smaller`: only those after which the tensor between the
// groups is smaller than before, or there is none. REQUIRES: no group has
// stages.
std::vector<LocalMove> FindLocalMoves(const TensorGraph& graph,
                                      const Plan& plan, bool smaller = false);

// The plan after these moves, which share no group.
Plan WithLocalMoves(const TensorGraph& graph, const Plan& plan,
                    absl::Span<const LocalMove> moves);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_FUSE_MOVE_RULES_H_
