#include "tilegraph/fuse/fusion_evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright {
namespace {

// Estimates that differ by less are the same.
constexpr double kSameTime = 0.04;

}  // namespace

Group InTiles(Group group, const GroupCost& cost) {
  group.tile_plan = cost.plan;
  return group;
}

FusionEvaluator::FusionEvaluator(const TensorGraph& graph, const Plan& plan,
                                 const GroupCostModel& model,
                                 const FusionOptions& options)
    : graph_(graph),
      plan_(plan),
      options_(options),
      rules_(graph, plan),
      model_(model),
      times_(model, options.measuring, options.generate) {}

PlanPart FusionEvaluator::Alone(int group) {
  PlanPart part;
  part.groups = {group};
  absl::StatusOr<std::vector<GroupCost>> costs = Estimate(plan_.groups[group]);
  if (costs.ok()) {
    part.cost = std::move(costs->front());
  } else {
    part.no_cost = std::string(costs.status().message());
  }
  return part;
}

void FusionEvaluator::Prepare(absl::Span<const std::vector<int>> fused) const {
  std::vector<Group> groups;
  for (const std::vector<int>& of : fused) {
    absl::StatusOr<Group> group = rules_.Fused(of);
    if (group.ok()) groups.push_back(*std::move(group));
  }
  model_.Prepare(groups);
}

absl::StatusOr<std::vector<GroupCost>> FusionEvaluator::Estimate(
    const Group& group) {
  const EstimateKey key = model_.KeyOf(group);
  const auto known = estimated_.find(key);
  if (known != estimated_.end()) return known->second;
  const int tiles = group.stages.empty() ? 1 : std::max(1, options_.most_tiles);
  return estimated_.emplace(key, model_.BestFew(group, tiles)).first->second;
}

const std::shared_ptr<const Plan>& FusionEvaluator::FusedPlan::get() {
  if (plan_ == nullptr)
    plan_ =
        std::make_shared<const Plan>(evaluator_.rules_.WithFusions({fusion_}));
  return plan_;
}

absl::StatusOr<GroupCost> FusionEvaluator::Generated(
    FusedPlan& fused, const Group& group, const GroupCost& expected) {
  if (!options_.generate) return expected;
  const EstimateKey key = model_.KeyOf(group);
  auto known = generated_.find(key);
  if (known == generated_.end()) {
    known =
        generated_.emplace(key, options_.generate(group, *fused.get())).first;
    ++tiles_.generated;
    tiles_.unexpected +=
        known->second.ok() && !SameTiles(*known->second, expected.plan);
  }
  TW_RETURN_IF_ERROR(known->second.status());
  GroupCost cost = expected;
  cost.plan = *known->second;
  cost.plan.generated = true;
  return model_.CostOf(InTiles(group, cost));
}

// Which stages follow blocks, or are computed in them, does not depend on the
// tile: others in blocks are costed by what the generator said of one.
void FusionEvaluator::ExpectLike(const GroupCost& generated, const Group& group,
                                 std::vector<GroupCost>::iterator begin,
                                 std::vector<GroupCost>::iterator end) {
  if (generated.plan.reduce_step() == 0) return;
  bool changed = false;
  for (auto other = begin; other != end; ++other) {
    if (other->plan.generated || other->plan.reduce_step() == 0) continue;
    TilePlan plan = other->plan;
    for (size_t s = 0; s < plan.stages.size(); ++s) {
      const StageDecision& decided = generated.plan.stages[s];
      plan.stages[s].family = decided.family;
      plan.stages[s].in_blocks_of = decided.in_blocks_of;
      plan.stages[s].follows = decided.follows;
    }
    if (SameTiles(plan, other->plan)) continue;
    Group in_tiles = group;
    in_tiles.tile_plan = std::move(plan);
    absl::StatusOr<GroupCost> cost = model_.CostOf(in_tiles);
    if (!cost.ok()) continue;
    *other = *std::move(cost);
    changed = true;
  }
  if (!changed) return;
  std::stable_sort(begin, end, [](const GroupCost& a, const GroupCost& b) {
    return std::pair(!a.fits, a.core_seconds) <
           std::pair(!b.fits, b.core_seconds);
  });
}

// Levels that all cores share are modelled roughly: nothing is fused for that
// alone.
bool FusionEvaluator::SavesOnOneCore(double fused_seconds,
                                     double unfused_seconds) const {
  return fused_seconds <= unfused_seconds * (1 - options_.least_gain);
}

FusionDecision FusionEvaluator::Evaluate(absl::Span<PlanPart* const> parts,
                                         const LeftOut& left_out) {
  FusionDecision decision;
  decision.left_out = left_out.groups;
  for (const PlanPart* part : parts) {
    for (const int g : part->groups) {
      if (!std::binary_search(left_out.groups.begin(), left_out.groups.end(),
                              g))
        decision.groups.push_back(g);
    }
    if (!part->no_cost.empty())
      decision.why = absl::StrCat(
          graph_.tensor(plan_.groups[part->groups.back()].output).name, ": ",
          part->no_cost);
    decision.unfused_core_seconds += part->cost.core_seconds;
    decision.unfused_bytes += FarBytes(part->cost);
  }
  std::sort(decision.groups.begin(), decision.groups.end());
  if (!decision.why.empty()) return decision;
  std::vector<PlanPart> left;
  std::string outside;
  for (const int g : left_out.groups) {
    left.push_back(Alone(g));
    decision.left_core_seconds += left.back().cost.core_seconds;
    decision.unfused_bytes -= FarBytes(left.back().cost);
    absl::StrAppend(&outside, outside.empty() ? "with " : ", ",
                    graph_.tensor(plan_.groups[g].output).name);
  }
  if (!outside.empty()) outside += " outside again ";
  const auto because = [&](std::string why) {
    decision.why = absl::StrCat(outside, why);
    return decision;
  };
  const absl::StatusOr<Group> group = rules_.Fused(decision.groups);
  if (!group.ok()) return because(std::string(group.status().message()));
  const absl::StatusOr<std::vector<GroupCost>> costs = Estimate(*group);
  if (!costs.ok()) return because(std::string(costs.status().message()));
  decision.fused = *std::min_element(
      costs->begin(), costs->end(), [](const GroupCost& a, const GroupCost& b) {
        return std::pair(!a.fits, a.core_seconds) <
               std::pair(!b.fits, b.core_seconds);
      });
  const double core_seconds =
      decision.fused.core_seconds + decision.left_core_seconds;
  const double most_change =
      times_.is_on() ? options_.most_loss : -options_.least_gain;
  if (!decision.fused.fits ||
      core_seconds > decision.unfused_core_seconds * (1 + most_change))
    return because(WhyNotByEstimate(decision));
  if (core_seconds >= left_out.most_core_seconds)
    return because("it would take longer than with it inside");
  FusedPlan fused(*this, Fusion{decision.groups, costs->front().plan, ""});
  if (times_.is_on()) {
    DecideByTime(*costs, fused, *group, parts, absl::MakeSpan(left), decision);
  } else {
    DecideByEstimate(*costs, fused, *group, parts, left, decision);
  }
  return because(decision.why);
}

void FusionEvaluator::DecideByEstimate(const std::vector<GroupCost>& costs,
                                       FusedPlan& fused, const Group& group,
                                       absl::Span<PlanPart* const> parts,
                                       absl::Span<const PlanPart> left,
                                       FusionDecision& decision) {
  double apart_one_core = 0, left_one_core = 0;
  for (const PlanPart* part : parts)
    apart_one_core += part->cost.one_core_seconds;
  for (const PlanPart& part : left) left_one_core += part.cost.one_core_seconds;
  // Each as it is generated; what then costs more than others waits for them.
  std::vector<GroupCost> open = costs;
  for (size_t i = 0; i < open.size(); ++i) {
    const GroupCost& cost = open[i];
    const auto refused = [&](std::string why) {
      if (decision.why.empty()) decision.why = std::move(why);
    };
    const double saved = decision.unfused_core_seconds - cost.core_seconds -
                         decision.left_core_seconds;
    if (!cost.fits) {
      refused(absl::StrCat("as generated it keeps ",
                           std::llround(cost.kept_bytes / 1024), " KiB"));
      continue;
    }
    if (saved < decision.unfused_core_seconds * options_.least_gain) {
      // Generated it saves less than was expected.
      if (cost.plan.generated && !decision.fused.plan.generated)
        decision.fused = cost;
      continue;
    }
    if (times_.is_on()) {
      const absl::Status known =
          times_.Of({fused.get(), InTiles(group, cost)}).status();
      if (!known.ok() && !absl::IsNotFound(known)) {
        refused(absl::StrCat("no kernel for it: ", known.message()));
        decision.no_kernel.Update(known);
        continue;
      }
    }
    const double one_core = cost.one_core_seconds + left_one_core;
    if (!SavesOnOneCore(one_core, apart_one_core)) {
      refused(WhyNotOnOneCore(cost, one_core / apart_one_core));
      continue;
    }
    if (!options_.may_move_more && FarBytes(cost) > decision.unfused_bytes) {
      refused(absl::StrCat(
          "would move ",
          std::llround((FarBytes(cost) - decision.unfused_bytes) / 1024),
          " KiB more"));
      continue;
    }
    if (options_.generate && !cost.plan.generated) {
      absl::StatusOr<GroupCost> generated =
          Generated(fused, InTiles(group, cost), cost);
      if (!generated.ok()) {
        refused(
            absl::StrCat("no schedule for it: ", generated.status().message()));
        decision.no_kernel.Update(generated.status());
        continue;
      }
      auto turn = open.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      ExpectLike(*generated, group, turn, open.end());
      if (!generated->fits ||
          generated->core_seconds > cost.core_seconds * (1 + kSameTime))
        turn = std::find_if(turn, open.end(), [&](const GroupCost& other) {
          return !other.fits || other.core_seconds >= generated->core_seconds;
        });
      open.insert(turn, *std::move(generated));
      continue;
    }
    decision.fused = cost;
    decision.taken = true;
    decision.no_kernel = absl::OkStatus();
    decision.saved_core_seconds = saved;
    decision.why = EstimatedGain(decision);
    return;
  }
  if (decision.why.empty()) decision.why = WhyNotByEstimate(decision);
}

}  // namespace tilewright
