// Fusions compared by measured times.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tilegraph/fuse/fusion_evaluator.h"

namespace tilewright {
namespace {

// The cost by which a kernel is compared whose seconds on one core were
// measured: all cores are as much faster as the model has it.
double CoreSeconds(const GroupCost& cost, double one_core_seconds) {
  return one_core_seconds * cost.core_seconds / cost.one_core_seconds;
}

// The seconds by which a decision by estimate may be wrong: most where it is
// close, none where it is as far off as groups that are not measured; some of
// them wherever tiles are to be chosen.
double AtStake(const FusionDecision& decision, double least_gain,
               double most_loss) {
  constexpr double kTiles = 0.03;
  const double ratio =
      (decision.fused.core_seconds + decision.left_core_seconds) /
      decision.unfused_core_seconds;
  const double distance = std::abs(ratio - (1 - least_gain));
  return decision.unfused_core_seconds *
         std::max(kTiles, most_loss + least_gain - distance);
}

}  // namespace

PlannedGroup FusionEvaluator::Planned(const PlanPart& part) const {
  // The evaluator outlives what it asks.
  if (part.groups.size() == 1)
    return {std::shared_ptr<const Plan>(std::shared_ptr<void>(), &plan_),
            plan_.groups[part.groups[0]]};
  auto plan = std::make_shared<const Plan>(
      rules_.WithFusions({Fusion{part.groups, part.cost.plan, ""}}));
  const Group& group =
      *std::find_if(plan->groups.begin(), plan->groups.end(),
                    [](const Group& g) { return !g.stages.empty(); });
  return {plan, group};
}

// The tiles of a fused group that may pay, and the kernels of its parts.
struct FusionEvaluator::Sides {
  std::vector<PlannedGroup> variants;
  std::vector<const GroupCost*> costs;  // of the variants
  // Those that the group replaces, then those that stay outside.
  std::vector<PlannedGroup> unfused;
  size_t replaced = 0;
  double at_stake = 0;  // seconds
  double unfused_one_core_seconds = 0;
};

bool FusionEvaluator::LookUpParts(absl::Span<PlanPart* const> parts,
                                  absl::Span<PlanPart> left, Sides& sides,
                                  FusionDecision& decision) {
  std::vector<PlanPart*> all(parts.begin(), parts.end());
  for (PlanPart& part : left) all.push_back(&part);
  sides.replaced = parts.size();
  bool known = true;
  for (PlanPart* const part : all) {
    sides.unfused.push_back(Planned(*part));
    if (part->one_core_seconds) continue;
    const absl::StatusOr<double> seconds = times_.Of(sides.unfused.back());
    if (seconds.ok()) {
      part->one_core_seconds = *seconds;
    } else if (absl::IsNotFound(seconds.status())) {
      known = false;
    } else {
      decision.why =
          absl::StrCat(graph_.tensor(sides.unfused.back().group.output).name,
                       " apart: ", seconds.status().message());
      return false;
    }
  }
  return known;
}

std::optional<size_t> FusionEvaluator::Fastest(const Sides& sides,
                                               FusionDecision& decision) {
  std::optional<size_t> best;
  double fused_seconds = 0;
  for (size_t i = 0; i < sides.variants.size(); ++i) {
    const auto& one_core = decision.profiled[i].one_core_seconds;
    if (!one_core.ok()) continue;
    const double seconds = CoreSeconds(*sides.costs[i], *one_core);
    if (best && seconds >= fused_seconds) continue;
    best = i;
    fused_seconds = seconds;
    decision.fused = *sides.costs[i];
    decision.fused_one_core_seconds = *one_core;
  }
  return best;
}

double FusionEvaluator::MeasureClose(const Sides& sides, size_t best,
                                     double one_core_seconds,
                                     FusionDecision& decision) {
  const double unfused = sides.unfused_one_core_seconds;
  // Other tiles may be somewhat faster, not much.
  const bool more_to_come =
      one_core_seconds <=
          unfused * (1 - options_.least_gain + options_.most_spread) &&
      times_.Want({}, sides.variants, sides.at_stake);
  if (more_to_come || std::abs(one_core_seconds / unfused -
                               (1 - options_.least_gain)) > options_.close_gain)
    return one_core_seconds;
  // The fused group comes first, then its parts.
  std::vector<PlannedGroup> groups = {sides.variants[best]};
  const auto left_begin =
      sides.unfused.begin() + static_cast<int64_t>(sides.replaced);
  groups.insert(groups.end(), left_begin, sides.unfused.end());
  const auto together = static_cast<int64_t>(groups.size());
  groups.insert(groups.end(), sides.unfused.begin(), left_begin);
  const auto again = times_.Interleaved(groups);
  if (!again) {
    times_.WantInterleaved(groups, sides.at_stake);
    return one_core_seconds;
  }
  const auto middle = again->begin() + together;
  // The parts take what others were compared with.
  const double seconds = unfused *
                         std::accumulate(again->begin(), middle, 0.0) /
                         std::accumulate(middle, again->end(), 0.0);
  decision.fused_one_core_seconds = seconds - decision.left_one_core_seconds;
  decision.interleaved = true;
  return seconds;
}

void FusionEvaluator::DecideByTime(const std::vector<GroupCost>& costs,
                                   FusedPlan& fused, const Group& group,
                                   absl::Span<PlanPart* const> parts,
                                   absl::Span<PlanPart> left,
                                   FusionDecision& decision) {
  Sides sides;
  for (const GroupCost& cost : costs) {
    if (cost.core_seconds + decision.left_core_seconds >
        decision.unfused_core_seconds * (1 + options_.most_loss))
      continue;
    sides.variants.push_back({fused.get(), InTiles(group, cost)});
    sides.costs.push_back(&cost);
  }
  const bool known = LookUpParts(parts, left, sides, decision);
  if (!decision.why.empty()) return;
  sides.at_stake = AtStake(decision, options_.least_gain, options_.most_loss);
  const size_t first = std::min<size_t>(sides.variants.size(),
                                        std::max(1, options_.first_tiles));
  const bool first_to_come = times_.Want(
      sides.unfused, absl::MakeConstSpan(sides.variants).first(first),
      sides.at_stake);
  bool any = false, any_unknown = false;
  for (const PlannedGroup& variant : sides.variants) {
    decision.profiled.push_back({variant.group.tile_plan, times_.Of(variant)});
    const absl::Status& status =
        decision.profiled.back().one_core_seconds.status();
    any = any || status.ok();
    any_unknown = any_unknown || absl::IsNotFound(status);
  }
  // Sides that are not both known cannot be compared.
  if (!known || (!any && any_unknown)) {
    if (known && !first_to_come)
      times_.Want({}, sides.variants, sides.at_stake);
    decision.profiled.clear();
    DecideByEstimate(costs, fused, group, parts, left, decision);
    return;
  }
  double unfused = 0, left_apart = 0;
  for (const PlanPart* part : parts) {
    if (!part->one_core_seconds) continue;
    sides.unfused_one_core_seconds += *part->one_core_seconds;
    unfused += CoreSeconds(part->cost, *part->one_core_seconds);
  }
  for (const PlanPart& part : left) {
    if (!part.one_core_seconds) continue;
    decision.left_one_core_seconds += *part.one_core_seconds;
    left_apart += CoreSeconds(part.cost, *part.one_core_seconds);
  }
  decision.unfused_one_core_seconds = sides.unfused_one_core_seconds;
  const std::optional<size_t> best = Fastest(sides, decision);
  if (!best) {
    decision.no_kernel = decision.profiled.front().one_core_seconds.status();
    decision.why =
        absl::StrCat("no kernel for it: ", decision.no_kernel.message());
    return;
  }
  const double one_core = MeasureClose(
      sides, *best,
      *decision.fused_one_core_seconds + decision.left_one_core_seconds,
      decision);
  decision.saved_core_seconds =
      unfused - CoreSeconds(decision.fused, *decision.fused_one_core_seconds) -
      left_apart;
  decision.taken =
      decision.saved_core_seconds >= options_.least_gain * unfused &&
      SavesOnOneCore(one_core, sides.unfused_one_core_seconds);
  decision.why = OutcomeByTime(decision);
  if (!decision.taken) return;
  const absl::StatusOr<GroupCost> generated =
      Generated(fused, InTiles(group, decision.fused), decision.fused);
  if (generated.ok()) decision.fused.plan = generated->plan;
}

}  // namespace tilewright
