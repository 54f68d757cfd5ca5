// GraphConnecting (Welder, figure 7) for the groups of a plan: neighbours are
// joined into staged groups where that costs less than the tensor between them
// in memory, by price or as measured (weigh_join.h).
//
// Edges between groups are decided in topological order, each against what is
// decided already. A result with several readers is kept inside only together
// with all of them, up to where their paths meet. Greedy growth, as in Welder's
// code, grows a group along its readers as far as that pays and starts anew
// behind it.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_CONNECT_PLAN_H_
#define TILEWRIGHT_TILEGRAPH_TILING_CONNECT_PLAN_H_

#include <functional>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"
#include "tilegraph/tiling/group_cost.h"
#include "tilegraph/tiling/joined_groups.h"
#include "tilegraph/tiling/weigh_join.h"

namespace tilewright {

enum class ConnectSearch { kEdges, kGreedy };

struct ConnectPlanOptions {
  ConnectSearch search = ConnectSearch::kEdges;
  WeighOptions weigh;
  // Groups that become one.
  int most_groups = 8;
  // Called after so many groups of all were decided about. Empty: nobody
  // listens.
  std::function<void(int done, int all)> on_progress;
};

struct ConnectedGroups {
  std::vector<Join> joins;
  std::vector<JoinDecision> decisions;  // in the order they were made
  std::vector<GroupCost> costs;         // of the register groups; empty where
                                        // a group has no price
};

// REQUIRES: `plan` was made for `graph` with Connect::kTileGraph or kRegister.
// Equal arguments and equal answers of the profiler, equal result.
ConnectedGroups ConnectPlan(const TensorGraph& graph, const Plan& plan,
                            const DeviceSpec& spec,
                            const ConnectPlanOptions& options);

// `plan` with these joins, and in every group's `why` what was weighed.
Plan JoinedPlan(const TensorGraph& graph, const Plan& plan,
                const ConnectedGroups& connected);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_CONNECT_PLAN_H_
