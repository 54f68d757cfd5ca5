#include "tilegraph/tiling/weigh_join.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tilewright {
namespace {

Group InTiles(Group group, const GroupCost& cost) {
  group.tile = cost.tile;
  group.stages.back().reduce_step = cost.reduce_step;
  return group;
}

// What is compared, of a kernel whose seconds on one core were measured: all
// cores are as much faster as the model has it.
double CoreSeconds(const GroupCost& cost, double one_core_seconds) {
  return one_core_seconds * cost.core_seconds / cost.one_core_seconds;
}

}  // namespace

JoinWeigher::JoinWeigher(const TensorGraph& graph, const Plan& plan,
                         const GroupCostModel& model,
                         const WeighOptions& options)
    : graph_(graph),
      plan_(plan),
      options_(options),
      rules_(graph, plan),
      model_(model) {}

PlanPart JoinWeigher::Alone(int group) {
  PlanPart part;
  part.groups = {group};
  absl::StatusOr<std::vector<GroupCost>> costs = Price(plan_.groups[group]);
  if (costs.ok()) {
    part.cost = std::move(costs->front());
  } else {
    part.no_cost = std::string(costs.status().message());
  }
  return part;
}

absl::StatusOr<std::vector<GroupCost>> JoinWeigher::Price(const Group& group) {
  const EstimateKey key = model_.KeyOf(group);
  const auto known = priced_.find(key);
  if (known != priced_.end()) return known->second;
  const int tiles = group.stages.empty() ? 1 : std::max(1, options_.most_tiles);
  return priced_.emplace(key, model_.BestFew(group, tiles)).first->second;
}

absl::Status JoinWeigher::Express(const Plan& joined, const Group& group) {
  if (!options_.expressible) return absl::OkStatus();
  const EstimateKey key = model_.KeyOf(group);
  const auto known = expressed_.find(key);
  if (known != expressed_.end()) return known->second;
  return expressed_[key] = options_.expressible(group, joined);
}

// What all cores share is modelled roughly: nothing is joined for that alone.
bool JoinWeigher::SavesOnOneCore(double joined_seconds,
                                 double apart_seconds) const {
  return joined_seconds <= apart_seconds * (1 - options_.least_gain);
}

JoinDecision JoinWeigher::Weigh(absl::Span<PlanPart* const> parts,
                                const LeftOut& left_out) {
  JoinDecision decision;
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
    decision.apart_core_seconds += part->cost.core_seconds;
    decision.apart_bytes += FarBytes(part->cost);
  }
  std::sort(decision.groups.begin(), decision.groups.end());
  if (!decision.why.empty()) return decision;
  std::vector<PlanPart> left;
  std::string outside;
  for (const int g : left_out.groups) {
    left.push_back(Alone(g));
    decision.left_core_seconds += left.back().cost.core_seconds;
    decision.apart_bytes -= FarBytes(left.back().cost);
    absl::StrAppend(&outside, outside.empty() ? "with " : ", ",
                    graph_.tensor(plan_.groups[g].output).name);
  }
  if (!outside.empty()) outside += " outside again ";
  const auto because = [&](std::string why) {
    decision.why = absl::StrCat(outside, why);
    return decision;
  };
  const absl::StatusOr<Group> group = rules_.Joined(decision.groups);
  if (!group.ok()) return because(std::string(group.status().message()));
  const absl::StatusOr<std::vector<GroupCost>> costs = Price(*group);
  if (!costs.ok()) return because(std::string(costs.status().message()));
  decision.joined = *std::min_element(
      costs->begin(), costs->end(), [](const GroupCost& a, const GroupCost& b) {
        return std::pair(!a.fits, a.core_seconds) <
               std::pair(!b.fits, b.core_seconds);
      });
  const double core_seconds =
      decision.joined.core_seconds + decision.left_core_seconds;
  const double most_change =
      options_.profiler ? options_.most_loss : -options_.least_gain;
  if (!decision.joined.fits ||
      core_seconds > decision.apart_core_seconds * (1 + most_change))
    return because(WhyNotByPrice(decision));
  if (core_seconds >= left_out.most_core_seconds)
    return because("it would take longer than with it inside");
  // With the layouts of its stages, for those who make kernels of it.
  Plan joined;
  if (options_.profiler || options_.expressible)
    joined = WithJoins(graph_, plan_,
                       {Join{decision.groups, costs->front().tile, ""}});
  if (options_.profiler) {
    DecideByTime(*costs, joined, *group, parts, absl::MakeSpan(left), decision);
  } else {
    DecideByPrice(*costs, joined, *group, parts, left, decision);
  }
  return because(decision.why);
}

void JoinWeigher::DecideByPrice(const std::vector<GroupCost>& costs,
                                const Plan& joined, Group group,
                                absl::Span<PlanPart* const> parts,
                                absl::Span<const PlanPart> left,
                                JoinDecision& decision) {
  double apart_one_core = 0, left_one_core = 0;
  for (const PlanPart* part : parts)
    apart_one_core += part->cost.one_core_seconds;
  for (const PlanPart& part : left) left_one_core += part.cost.one_core_seconds;
  for (const GroupCost& cost : costs) {
    const double saved = decision.apart_core_seconds - cost.core_seconds -
                         decision.left_core_seconds;
    if (saved < decision.apart_core_seconds * options_.least_gain) continue;
    const auto profiled = profiled_.find(model_.KeyOf(InTiles(group, cost)));
    if (profiled != profiled_.end() && !profiled->second.ok() &&
        !absl::IsNotFound(profiled->second.status())) {
      if (decision.why.empty())
        decision.why = absl::StrCat("no kernel for it: ",
                                    profiled->second.status().message());
      continue;
    }
    const double one_core = cost.one_core_seconds + left_one_core;
    if (!SavesOnOneCore(one_core, apart_one_core)) {
      if (decision.why.empty())
        decision.why = WhyNotOnOneCore(cost, one_core / apart_one_core);
      continue;
    }
    if (!options_.may_move_more && FarBytes(cost) > decision.apart_bytes) {
      if (decision.why.empty())
        decision.why = absl::StrCat(
            "would move ",
            std::llround((FarBytes(cost) - decision.apart_bytes) / 1024),
            " KiB more");
      continue;
    }
    const absl::Status made = Express(joined, InTiles(group, cost));
    if (!made.ok()) {
      if (decision.why.empty())
        decision.why = absl::StrCat("no schedule for it: ", made.message());
      continue;
    }
    decision.joined = cost;
    decision.taken = true;
    decision.saved_core_seconds = saved;
    decision.why = GainByPrice(decision);
    return;
  }
  if (decision.why.empty()) decision.why = WhyNotByPrice(decision);
}

std::vector<absl::StatusOr<double>> JoinWeigher::Profile(
    const Plan& plan, absl::Span<const Group> variants) {
  std::vector<Group> unknown;
  std::vector<EstimateKey> keys, unknown_keys;
  for (const Group& variant : variants) {
    keys.push_back(model_.KeyOf(variant));
    if (profiled_.count(keys.back())) continue;
    const bool spent =
        told_ + static_cast<int>(unknown.size()) >= options_.most_profiled;
    profiled_.emplace(keys.back(), absl::ResourceExhaustedError(absl::StrCat(
                                       "not profiled: ", options_.most_profiled,
                                       " other candidates were")));
    if (spent) continue;
    unknown.push_back(variant);
    unknown_keys.push_back(keys.back());
  }
  if (!unknown.empty()) {
    std::vector<absl::StatusOr<double>> seconds =
        options_.profiler->OneCoreSeconds(plan, unknown);
    for (size_t i = 0; i < unknown.size(); ++i) {
      told_ += !absl::IsNotFound(seconds[i].status());
      profiled_.insert_or_assign(unknown_keys[i], std::move(seconds[i]));
    }
  }
  std::vector<absl::StatusOr<double>> result;
  for (const EstimateKey& key : keys) result.push_back(profiled_.at(key));
  return result;
}

absl::Status JoinWeigher::ProfilePart(PlanPart& part) {
  if (part.one_core_seconds) return absl::OkStatus();
  const Group& group = plan_.groups[part.groups[0]];
  const absl::StatusOr<double> seconds = Profile(plan_, {group})[0];
  if (!seconds.ok())
    return absl::Status(seconds.status().code(),
                        absl::StrCat(graph_.tensor(group.output).name,
                                     " apart: ", seconds.status().message()));
  part.one_core_seconds = *seconds;
  return absl::OkStatus();
}

std::optional<JoinWeigher::InTurns> JoinWeigher::ProfileInTurns(
    const Plan& joined, const Group& variant, absl::Span<PlanPart* const> parts,
    absl::Span<const PlanPart> left) {
  std::deque<Plan> plans;  // of parts that are joined themselves
  std::vector<GroupOfPlan> groups = {{&joined, &variant}};
  for (const PlanPart& part : left)
    groups.push_back({&plan_, &plan_.groups[part.groups[0]]});
  const size_t together = groups.size();
  for (const PlanPart* part : parts) {
    if (part->groups.size() == 1) {
      groups.push_back({&plan_, &plan_.groups[part->groups[0]]});
      continue;
    }
    plans.push_back(WithJoins(
        graph_, plan_,
        {Join{part->groups, part->cost.tile, "", part->cost.reduce_step}}));
    const std::vector<Group>& all = plans.back().groups;
    groups.push_back({&plans.back(), &*std::find_if(all.begin(), all.end(),
                                                    [](const Group& g) {
                                                      return !g.stages.empty();
                                                    })});
  }
  std::vector<EstimateKey> key;
  for (const GroupOfPlan& one : groups) key.push_back(model_.KeyOf(*one.group));
  const auto known = in_turns_.find(key);
  if (known != in_turns_.end()) return known->second;
  std::optional<InTurns>& result = in_turns_[key];
  if (static_cast<int>(in_turns_.size()) > options_.most_in_turns)
    return result;
  const absl::StatusOr<std::vector<double>> seconds =
      options_.profiler->InTurns(groups);
  if (!seconds.ok()) return result;
  const auto middle = seconds->begin() + static_cast<int64_t>(together);
  result = {std::accumulate(seconds->begin(), middle, 0.0),
            std::accumulate(middle, seconds->end(), 0.0)};
  return result;
}

void JoinWeigher::DecideByTime(const std::vector<GroupCost>& costs,
                               const Plan& joined, const Group& group,
                               absl::Span<PlanPart* const> parts,
                               absl::Span<PlanPart> left,
                               JoinDecision& decision) {
  std::vector<Group> variants;
  std::vector<const GroupCost*> variant_costs;
  for (const GroupCost& cost : costs) {
    if (cost.core_seconds + decision.left_core_seconds >
        decision.apart_core_seconds * (1 + options_.most_loss))
      continue;
    Group variant = InTiles(group, cost);
    const absl::Status made = Express(joined, variant);
    if (!made.ok()) {
      decision.profiled.push_back({cost.tile, cost.reduce_step, made});
      continue;
    }
    variants.push_back(std::move(variant));
    variant_costs.push_back(&cost);
  }
  const size_t first = decision.profiled.size();
  if (!variants.empty()) {
    std::vector<PlanPart*> both(parts.begin(), parts.end());
    for (PlanPart& part : left) both.push_back(&part);
    absl::Status timed;
    for (PlanPart* const part : both) {
      timed = ProfilePart(*part);
      if (!timed.ok()) break;
    }
    if (!timed.ok() && !absl::IsNotFound(timed)) {
      decision.why = std::string(timed.message());
      return;
    }
    const std::vector<absl::StatusOr<double>> seconds =
        Profile(joined, variants);
    // What is not known of both sides cannot be compared.
    const auto is_known = [](const auto& one) { return one.ok(); };
    const auto is_unknown = [](const auto& one) {
      return absl::IsNotFound(one.status());
    };
    if (!timed.ok() ||
        (std::none_of(seconds.begin(), seconds.end(), is_known) &&
         std::any_of(seconds.begin(), seconds.end(), is_unknown))) {
      decision.profiled.clear();
      DecideByPrice(costs, joined, group, parts, left, decision);
      return;
    }
    for (size_t i = 0; i < variants.size(); ++i)
      decision.profiled.push_back({variants[i].tile,
                                   variants[i].stages.back().reduce_step,
                                   seconds[i]});
  }
  double apart = 0, apart_one_core = 0, left_apart = 0;
  for (const PlanPart* part : parts) {
    if (!part->one_core_seconds) continue;
    apart_one_core += *part->one_core_seconds;
    apart += CoreSeconds(part->cost, *part->one_core_seconds);
  }
  for (const PlanPart& part : left) {
    if (!part.one_core_seconds) continue;
    decision.left_one_core_seconds += *part.one_core_seconds;
    left_apart += CoreSeconds(part.cost, *part.one_core_seconds);
  }
  decision.apart_one_core_seconds = apart_one_core;
  std::optional<size_t> best;
  double joined_seconds = 0;
  for (size_t i = 0; i < variants.size(); ++i) {
    const auto& one_core = decision.profiled[first + i].one_core_seconds;
    if (!one_core.ok()) continue;
    const double seconds = CoreSeconds(*variant_costs[i], *one_core);
    if (best && seconds >= joined_seconds) continue;
    best = i;
    joined_seconds = seconds;
    decision.joined = *variant_costs[i];
    decision.joined_one_core_seconds = *one_core;
  }
  if (!best) {
    decision.why = absl::StrCat(
        "no kernel for it: ",
        decision.profiled.front().one_core_seconds.status().message());
    return;
  }
  double one_core =
      *decision.joined_one_core_seconds + decision.left_one_core_seconds;
  if (std::abs(one_core / apart_one_core - (1 - options_.least_gain)) <=
      options_.close_gain) {
    if (const auto again =
            ProfileInTurns(joined, variants[*best], parts, left)) {
      // The parts take what others were compared with.
      one_core = apart_one_core * again->together / again->apart;
      decision.joined_one_core_seconds =
          one_core - decision.left_one_core_seconds;
      joined_seconds =
          CoreSeconds(decision.joined, *decision.joined_one_core_seconds);
      decision.in_turns = true;
    }
  }
  decision.saved_core_seconds = apart - joined_seconds - left_apart;
  decision.taken = decision.saved_core_seconds >= options_.least_gain * apart &&
                   SavesOnOneCore(one_core, apart_one_core);
  decision.why = OutcomeByTime(decision);
}

}  // namespace tilewright
