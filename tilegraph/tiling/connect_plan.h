// GraphConnecting (Welder, figure 7) for the groups of a plan: neighbours are
// joined into staged groups where that costs less than the tensor between them
// in memory.
//
// Edges between groups are decided in topological order, each against what is
// decided already. A result with several readers is kept inside only together
// with all of them, up to where their paths meet. Greedy growth, as in Welder's
// code, grows a group along its readers as far as that pays and starts anew
// behind it.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_CONNECT_PLAN_H_
#define TILEWRIGHT_TILEGRAPH_TILING_CONNECT_PLAN_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"
#include "tilegraph/tiling/group_cost.h"
#include "tilegraph/tiling/joined_groups.h"
#include "tilegraph/tiling/plan_cache.h"

namespace tilewright {

enum class ConnectSearch { kEdges, kGreedy };

struct ConnectPlanOptions {
  ConnectSearch search = ConnectSearch::kEdges;
  // Joined only if that saves this share: estimates are rough.
  double least_gain = 0.03;
  // Groups that become one.
  int most_groups = 8;
  // Whether a group with stages and tile can be made on this device; an error
  // says why not. Asked before a join is taken. Empty: all can.
  std::function<absl::Status(const Group&, const Plan&)> expressible;
  // Must outlive the call; null: none beyond it.
  PlanCache* cache = nullptr;
};

// A join that was weighed.
struct JoinDecision {
  std::vector<int> groups;  // of the register plan
  bool taken = false;
  std::string why;   // one line, for people
  GroupCost joined;  // of the best tile; empty if it never came to a price
  double apart_core_seconds = 0;  // of the parts it would be made of
  double apart_bytes = 0;         // that leave the private caches
};

struct ConnectedGroups {
  std::vector<Join> joins;
  std::vector<JoinDecision> decisions;  // in the order they were made
  std::vector<GroupCost> costs;         // of the register groups; empty where
                                        // a group has no price
};

// REQUIRES: `plan` was made for `graph` with Connect::kTileGraph or kRegister.
// Equal arguments, equal result, whatever the cache holds.
ConnectedGroups ConnectPlan(const TensorGraph& graph, const Plan& plan,
                            const DeviceSpec& spec,
                            const ConnectPlanOptions& options);

// `plan` with these joins, and in every group's `why` what was weighed.
Plan JoinedPlan(const TensorGraph& graph, const Plan& plan,
                const ConnectedGroups& connected);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_CONNECT_PLAN_H_
