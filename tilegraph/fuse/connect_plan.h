// GraphConnecting (connect_search.h) for the groups of a plan: neighbours are
// fused where that costs less than the tensor between them in memory, by the
// cost model of the device or as measured (fusion_evaluator.h).
#ifndef TILEWRIGHT_TILEGRAPH_FUSE_CONNECT_PLAN_H_
#define TILEWRIGHT_TILEGRAPH_FUSE_CONNECT_PLAN_H_

#include <vector>

#include "tilegraph/cost/group_cost_model.h"
#include "tilegraph/fuse/connect_search.h"
#include "tilegraph/fuse/fused_groups.h"
#include "tilegraph/fuse/fusion_decision.h"
#include "tilegraph/fuse/fusion_evaluator.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

struct ConnectPlanOptions {
  ConnectSearch search = ConnectSearch::kEdges;
  FusionOptions evaluate;
  // Groups that become one.
  int most_groups = 8;
  // As of ConnectSearchOptions. Not on CPUs: of more ways to fuse, more that
  // are estimated too well are taken (docs/results/connect.md).
  bool may_leave_first = false;
};

struct ConnectedGroups {
  std::vector<Fusion> fusions;
  std::vector<FusionDecision> decisions;  // what was evaluated, in that order
  std::vector<GroupCost> costs;         // of the register groups; empty where
                                        // there is no estimate
  GeneratedTiles tiles;
};

// A result with several readers is kept inside only together with all of them.
// REQUIRES: `plan` was made for `graph` with Connect::kTileGraph or kRegister.
// With a profiler it measures what has most at stake and plans anew, until
// nothing more can be measured. Equal arguments and equal known times, equal
// result.
ConnectedGroups ConnectPlan(const TensorGraph& graph, const Plan& plan,
                            const GroupCostModel& model,
                            const ConnectPlanOptions& options);

// `plan` with these fusions, and in every group's `why` what was evaluated.
Plan FusedPlan(const TensorGraph& graph, const Plan& plan,
               const ConnectedGroups& connected);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_FUSE_CONNECT_PLAN_H_
