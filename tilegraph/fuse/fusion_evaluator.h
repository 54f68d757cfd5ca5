// Weighs what fusing groups of a plan into one saves: by the cost model
// (group_cost_model.h) and, with a profiler, by what kernels take.
//
// For groups that the cost model does not think far slower fused it asks for
// the times of the best few tiles and of the parts (measured_times.h). Where
// those of both sides are known they decide; else the cost model does, and what
// is missing is wanted. What no kernel is right for is not fused.
#ifndef TILEWRIGHT_TILEGRAPH_FUSE_FUSION_EVALUATOR_H_
#define TILEWRIGHT_TILEGRAPH_FUSE_FUSION_EVALUATOR_H_

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/cost/estimate_key.h"
#include "tilegraph/cost/group_cost_model.h"
#include "tilegraph/fuse/fused_groups.h"
#include "tilegraph/fuse/fusion_decision.h"
#include "tilegraph/fuse/measured_times.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

struct FusionOptions {
  // Fused only if that saves this share, of the estimate or as measured:
  // estimates are rough, times are noisy.
  double least_gain = 0.03;
  // Whether a fused group may move more beyond the private levels than its
  // parts. On CPUs what others leave of a shared cache is not known.
  bool may_move_more = false;
  // Asked before a group is fused: it is evaluated as it is generated. Empty:
  // all tiles are as expected.
  GenerateTiles generate;

  MeasuringOptions measuring;
  // Tiles of a fused group, best by estimate first, that are measured: the
  // first few, and the others too if with the best of those it takes no longer
  // than by `most_spread` of what fusing would have to reach.
  int first_tiles = 2, most_tiles = 6;
  double most_spread = 0.08;
  // Not measured if the estimate says that it takes longer by more.
  double most_loss = 0.15;
  // Where what is saved on one core differs from least_gain by no more than
  // this, the fused group and its parts are measured again, interleaved, and
  // that decides: times of different moments are not that close.
  double close_gain = 0.04;
};

// A kernel of the plan as it stands: a group of the register plan, or several.
struct PlanPart {
  std::vector<int> groups;  // ascending
  GroupCost cost;           // the model's estimate, if it has one
  std::string no_cost;      // why not
  // One core's, measured.
  std::optional<double> one_core_seconds;
};

// Groups of a fusion's parts that stay outside of it.
struct LeftOut {
  std::vector<int> groups;  // ascending
  // Evaluated only if it takes less than that, by estimate and with those.
  double most_core_seconds = std::numeric_limits<double>::infinity();
};

// Tiles of fused groups that a generator was asked about, equal ones once.
struct GeneratedTiles {
  int generated = 0;
  int unexpected = 0;  // that it computes otherwise than the planner expected
};

// The group with the tiles of that cost.
Group InTiles(Group group, const GroupCost& cost);

class FusionEvaluator {
 public:
  // All must outlive it.
  FusionEvaluator(const TensorGraph& graph, const Plan& plan,
                  const GroupCostModel& model, const FusionOptions& options);

  const FusionRules& rules() const { return rules_; }
  const GeneratedTiles& tiles() const { return tiles_; }

  // A group of the register plan, by estimate alone.
  PlanPart Alone(int group);
  // These, each as one group, will be evaluated.
  void Prepare(absl::Span<const std::vector<int>> fused) const;
  // Evaluates making `parts` one group, but for groups of them that stay apart.
  // Fills in times of parts.
  FusionDecision Evaluate(absl::Span<PlanPart* const> parts,
                          const LeftOut& left_out = {});
  // MeasuredTimes::Measure, of what was not known when it was evaluated.
  bool Measure(double all_core_seconds) {
    return times_.Measure(all_core_seconds);
  }

 private:
  // The plan with a fusion, for those who make kernels of it. As large as the
  // plan, it is made when it is asked for first.
  class FusedPlan {
   public:
    FusedPlan(const FusionEvaluator& evaluator, Fusion fusion)
        : evaluator_(evaluator), fusion_(std::move(fusion)) {}
    const std::shared_ptr<const Plan>& get();

   private:
    const FusionEvaluator& evaluator_;
    const Fusion fusion_;
    std::shared_ptr<const Plan> plan_;
  };

  absl::StatusOr<std::vector<GroupCost>> Estimate(const Group& group);
  // The cost of the group as it is generated; the estimate if nobody generates.
  absl::StatusOr<GroupCost> Generated(FusedPlan& fused, const Group& group,
                                      const GroupCost& expected);
  // Has the others expect of blocks what was generated.
  void ExpectLike(const GroupCost& generated, const Group& group,
                  std::vector<GroupCost>::iterator begin,
                  std::vector<GroupCost>::iterator end);
  // `left`: what stays apart, each group a part.
  void DecideByEstimate(const std::vector<GroupCost>& costs, FusedPlan& fused,
                        const Group& group, absl::Span<PlanPart* const> parts,
                        absl::Span<const PlanPart> left,
                        FusionDecision& decision);
  void DecideByTime(const std::vector<GroupCost>& costs, FusedPlan& fused,
                    const Group& group, absl::Span<PlanPart* const> parts,
                    absl::Span<PlanPart> left, FusionDecision& decision);
  struct Sides;  // of a comparison by measured times (decide_by_time.cc)
  // Fills in the times of parts; false if one is not known, or, with
  // `decision.why`, cannot be.
  bool LookUpParts(absl::Span<PlanPart* const> parts, absl::Span<PlanPart> left,
                   Sides& sides, FusionDecision& decision);
  // The variant that takes least; nullopt if none has a kernel.
  std::optional<size_t> Fastest(const Sides& sides, FusionDecision& decision);
  // The seconds of the fused side on one core, measured anew beside its parts
  // where the two are close.
  double MeasureClose(const Sides& sides, size_t best, double one_core_seconds,
                      FusionDecision& decision);
  // The kernel of a part, in the plan where it is one.
  PlannedGroup Planned(const PlanPart& part) const;
  bool SavesOnOneCore(double fused_seconds, double unfused_seconds) const;

  const TensorGraph& graph_;
  const Plan& plan_;
  const FusionOptions& options_;
  const FusionRules rules_;
  const GroupCostModel& model_;
  MeasuredTimes times_;
  // The second of groups with a tile.
  std::map<EstimateKey, absl::StatusOr<std::vector<GroupCost>>> estimated_;
  std::map<EstimateKey, absl::StatusOr<TilePlan>> generated_;
  GeneratedTiles tiles_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_FUSE_FUSION_EVALUATOR_H_
