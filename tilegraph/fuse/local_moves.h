// Local moves on the register groups of a plan, before groups are fused
// (connect_plan.h): the elementwise computes that end a group, or are all of
// it, are detached from it and attached to the group that reads their result,
// which begins with them.
//
// Groups are formed from reductions on: each takes what follows it element by
// element (plan_draft.h). That keeps a tensor out of memory, but not always the
// larger one: before a cast to a wider type, or where one result of a row is
// spread over it, another cut moves less. The cost model of the device decides,
// with layouts as they are. Results that others read too are side outputs of
// fused groups (fused_groups.h).
#ifndef TILEWRIGHT_TILEGRAPH_FUSE_LOCAL_MOVES_H_
#define TILEWRIGHT_TILEGRAPH_FUSE_LOCAL_MOVES_H_

#include <functional>
#include <memory>

#include "tilegraph/cost/group_cost_model.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// Makes the cost model of a plan, which outlives it.
using MakeCostModel =
    std::function<std::unique_ptr<GroupCostModel>(const Plan& plan)>;

struct LocalMoveOptions {
  // Share of the time of both groups that a move has to save; it is tried where
  // at least as much of that is no arithmetic, which moves do not change.
  double least_gain = 0.03;
  // Moves that share no group are tried together, so that a few rounds try all.
  int most_rounds = 16;
};

// Makes every move that saves enough, until there is none; says in `why` of
// groups what was tried. Equal arguments, equal result.
Plan MakeLocalMoves(const TensorGraph& graph, Plan plan,
                    const MakeCostModel& make_model,
                    const LocalMoveOptions& options = {});

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_FUSE_LOCAL_MOVES_H_
