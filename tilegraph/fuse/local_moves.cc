#include "tilegraph/fuse/local_moves.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "tilegraph/cost/estimate_key.h"
#include "tilegraph/fuse/move_rules.h"

namespace tilewright {
namespace {

// A plan and its cost model; estimates of equal groups are made once.
class EstimatedPlan {
 public:
  using Known = std::map<EstimateKey, std::optional<GroupCost>>;
  EstimatedPlan(Plan plan, const MakeCostModel& make_model, Known& known)
      : plan_(std::make_unique<Plan>(std::move(plan))),
        model_(make_model(*plan_)),
        known_(&known) {}

  Plan& plan() { return *plan_; }
  std::optional<GroupCost> CostOf(const Group& group) const {
    const auto [found, is_new] =
        known_->try_emplace(model_->KeyOf(group), std::nullopt);
    if (is_new) {
      auto costs = model_->BestFew(group, 1);
      if (costs.ok()) found->second = std::move(costs->front());
    }
    return found->second;
  }

 private:
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<GroupCostModel> model_;
  Known* known_;
};

// The time of some groups; none if one of them has no estimate.
struct Times {
  double core_seconds = 0, one_core_seconds = 0, work_seconds = 0;
};
std::optional<Times> TimesOf(const EstimatedPlan& plan,
                             absl::Span<const Group* const> groups) {
  Times sum;
  for (const Group* group : groups) {
    const std::optional<GroupCost> cost = plan.CostOf(*group);
    if (!cost) return std::nullopt;
    sum.core_seconds += cost->core_seconds;
    sum.one_core_seconds += cost->one_core_seconds;
    sum.work_seconds += cost->work_seconds;
  }
  return sum;
}

class Mover {
 public:
  Mover(const TensorGraph& graph, Plan plan, const MakeCostModel& make_model,
        const LocalMoveOptions& options)
      : graph_(graph),
        make_model_(make_model),
        options_(options),
        now_(std::move(plan), make_model, known_) {}

  Plan Run() && {
    for (int round = 0; round < options_.most_rounds && Round(); ++round) {
    }
    return std::move(now_.plan());
  }

 private:
  // A move that is tried, and the time of its groups without it.
  struct Trial {
    LocalMove move;
    Times before;
  };

  // Moves that were not tried yet, of groups that are in no other.
  std::vector<Trial> NextTrials() {
    const Plan& plan = now_.plan();
    std::vector<Trial> trials;
    std::set<int> taken;
    for (LocalMove& move : FindLocalMoves(graph_, plan, /*smaller=*/true)) {
      if (taken.count(move.from) || taken.count(move.to)) continue;
      const Group& from = plan.groups[move.from];
      const Group& to = plan.groups[move.to];
      if (tried_.count({from.members, move.moved.size(), to.members})) continue;
      const std::optional<Times> before = TimesOf(now_, {&from, &to});
      tried_.insert({from.members, move.moved.size(), to.members});
      if (!before || before->one_core_seconds - before->work_seconds <
                         options_.least_gain * before->one_core_seconds)
        continue;
      taken.insert({move.from, move.to});
      trials.push_back({std::move(move), *before});
    }
    return trials;
  }

  // Tries moves; false if none is left.
  bool Round() {
    const std::vector<Trial> trials = NextTrials();
    if (trials.empty()) return false;
    std::vector<LocalMove> moves, made;
    for (const Trial& trial : trials) moves.push_back(trial.move);
    EstimatedPlan all(WithLocalMoves(graph_, now_.plan(), moves), make_model_,
                      known_);
    std::map<TensorId, const Group*> by_output;
    for (const Group& group : all.plan().groups)
      by_output[group.output] = &group;
    for (const Trial& trial : trials) {
      Plan& plan = now_.plan();
      Group& from = plan.groups[trial.move.from];
      Group& to = plan.groups[trial.move.to];
      std::vector<const Group*> after = {by_output.at(to.output)};
      const size_t kept = from.members.size() - trial.move.moved.size();
      if (kept > 0) after.push_back(by_output.at(from.members[kept - 1]));
      const std::optional<Times> times = TimesOf(all, after);
      if (!times) continue;
      const bool saves = times->core_seconds <=
                         trial.before.core_seconds * (1 - options_.least_gain);
      if (saves) made.push_back(trial.move);
      Explain(trial, *times, saves, from, to);
    }
    if (!made.empty())
      now_ = EstimatedPlan(WithLocalMoves(graph_, now_.plan(), made),
                           make_model_, known_);
    return true;
  }

  // The group that computes what is moved, or was to be, says why.
  void Explain(const Trial& trial, const Times& after, bool saves, Group& from,
               Group& to) const {
    std::string moved;
    for (const TensorId id : trial.move.moved)
      absl::StrAppend(&moved, graph_.tensor(id).name, " ");
    const double change = after.core_seconds / trial.before.core_seconds - 1;
    if (saves) {
      to.why.push_back(absl::StrCat(
          "begins with ", moved,
          absl::StrFormat("that ended another group: saves %.0f %%",
                          -100 * change)));
    } else {
      from.why.push_back(absl::StrCat(
          moved, "stays here: ",
          change > 0
              ? absl::StrFormat("would take %.0f %% longer with ", 100 * change)
              : absl::StrFormat("would save only %.0f %% with ", -100 * change),
          graph_.tensor(to.output).name));
    }
  }

  const TensorGraph& graph_;
  const MakeCostModel& make_model_;
  const LocalMoveOptions& options_;
  EstimatedPlan::Known known_;
  EstimatedPlan now_;
  std::set<std::tuple<std::vector<TensorId>, size_t, std::vector<TensorId>>>
      tried_;
};

}  // namespace

Plan MakeLocalMoves(const TensorGraph& graph, Plan plan,
                    const MakeCostModel& make_model,
                    const LocalMoveOptions& options) {
  return Mover(graph, std::move(plan), make_model, options).Run();
}

}  // namespace tilewright
