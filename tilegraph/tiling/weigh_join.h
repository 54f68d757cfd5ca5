// What it saves to fuse groups of a plan into one: by the cost model
// (group_cost_model.h) and, with a profiler, by what kernels take.
//
// The price only prunes then: the best few tiles of a join that it does not
// think far worse than its parts are profiled, and so are the parts, each
// verified before it is measured (plan_profiler.h). What no kernel is right or
// fast enough for stays apart.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_WEIGH_JOIN_H_
#define TILEWRIGHT_TILEGRAPH_TILING_WEIGH_JOIN_H_

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"
#include "tilegraph/tiling/estimate_key.h"
#include "tilegraph/tiling/group_cost_model.h"
#include "tilegraph/tiling/join_decision.h"
#include "tilegraph/tiling/joined_groups.h"
#include "tilegraph/tiling/plan_profiler.h"

namespace tilewright {

struct WeighOptions {
  // Joined only if that saves this share, of the price or as measured: prices
  // are rough, times are noisy.
  double least_gain = 0.03;
  // Whether a fused group may move more beyond the private levels than its
  // parts. On CPUs what others leave of a shared cache is not known.
  bool may_move_more = false;
  // Whether a group with stages and tile can be made on this device; an error
  // says why not. Asked before a join is taken. Empty: all can.
  std::function<absl::Status(const Group&, const Plan&)> expressible;

  // Must outlive the weigher; null: the price decides, as it does where the
  // profiler knows nothing of a join or of a part of it.
  PlanProfiler* profiler = nullptr;
  // Tiles of a join, best by price first, that are profiled.
  int most_tiles = 6;
  // Not profiled if the price says that it takes longer by more.
  double most_loss = 0.15;
  // Candidates profiled in all, equal ones once, but for those of which nothing
  // is known. What comes later stays apart.
  int most_profiled = 650;
  // Where what is saved on one core differs from least_gain by no more than
  // this, the join and its parts are profiled again, in turns, and that
  // decides: times of different moments are not that close. So often in all.
  double close_gain = 0.04;
  int most_in_turns = 24;
};

// A kernel of the plan as it stands: a group of the register plan, or several.
struct PlanPart {
  std::vector<int> groups;  // ascending
  GroupCost cost;           // the model's estimate, if it has one
  std::string no_cost;      // why not
  // One core's, measured.
  std::optional<double> one_core_seconds;
};

// What a join leaves outside of what its parts hold.
struct LeftOut {
  std::vector<int> groups;  // ascending
  // Weighed only if it takes less than that, by price and with those.
  double most_core_seconds = std::numeric_limits<double>::infinity();
};

class JoinWeigher {
 public:
  // All must outlive it.
  JoinWeigher(const TensorGraph& graph, const Plan& plan,
              const GroupCostModel& model, const WeighOptions& options);

  const JoinRules& rules() const { return rules_; }

  // A group of the register plan, by price alone.
  PlanPart Alone(int group);
  // What becomes of `parts` if they are one, but for groups of them that stay
  // apart. Fills in times of parts.
  JoinDecision Weigh(absl::Span<PlanPart* const> parts,
                     const LeftOut& left_out = {});

 private:
  absl::StatusOr<std::vector<GroupCost>> Price(const Group& group);
  absl::Status Express(const Plan& joined, const Group& group);
  // Of variants of one group.
  std::vector<absl::StatusOr<double>> Profile(const Plan& plan,
                                              absl::Span<const Group> variants);
  // `left`: what stays apart, each group a part.
  void DecideByPrice(const std::vector<GroupCost>& costs, const Plan& joined,
                     Group group, absl::Span<PlanPart* const> parts,
                     absl::Span<const PlanPart> left, JoinDecision& decision);
  void DecideByTime(const std::vector<GroupCost>& costs, const Plan& joined,
                    const Group& group, absl::Span<PlanPart* const> parts,
                    absl::Span<PlanPart> left, JoinDecision& decision);
  absl::Status ProfilePart(PlanPart& part);
  // Of what a join is made of and of what it becomes, `variant` of `joined` and
  // groups that are left: seconds of one core, in turns; nothing if that cannot
  // be told.
  struct InTurns {
    double together, apart;
  };
  std::optional<InTurns> ProfileInTurns(const Plan& joined,
                                        const Group& variant,
                                        absl::Span<PlanPart* const> parts,
                                        absl::Span<const PlanPart> left);
  bool SavesOnOneCore(double joined_seconds, double apart_seconds) const;

  const TensorGraph& graph_;
  const Plan& plan_;
  const WeighOptions& options_;
  const JoinRules rules_;
  const GroupCostModel& model_;
  // All but prices are of groups with a tile.
  std::map<EstimateKey, absl::StatusOr<std::vector<GroupCost>>> priced_;
  std::map<EstimateKey, absl::Status> expressed_;
  std::map<EstimateKey, absl::StatusOr<double>> profiled_;
  int told_ = 0;  // of profiled_: the profiler knows of it
  // By all of them.
  std::map<std::vector<EstimateKey>, std::optional<InTurns>> in_turns_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_WEIGH_JOIN_H_
