#include "tilegraph/tiling/connect_plan.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tilewright {
namespace {

// Groups of the register plan as nodes: a part is what becomes one kernel.
class GroupJudge : public ConnectJudge {
 public:
  GroupJudge(int groups, int most_groups, JoinWeigher& weigher)
      : most_groups_(most_groups), weigher_(weigher) {
    for (int g = 0; g < groups; ++g) {
      part_of_.push_back(g);
      parts_[g].part = weigher_.Alone(g);
      result_.costs.push_back(parts_[g].part.cost);
    }
  }

  void Begin(const ConnectEdge&) override { asked_.clear(); }

  std::optional<double> Saved(absl::Span<const ConnectEdge> edges,
                              int /*level*/) override {
    const std::set<int> numbers = PartsOf(edges);
    if (numbers.size() < 2) return std::nullopt;
    const auto known = asked_.find(numbers);
    if (known != asked_.end()) return known->second.saved;
    std::vector<PlanPart*> parts;
    size_t groups = 0;
    for (const int part : numbers) {
      parts.push_back(&parts_.at(part).part);
      groups += parts.back()->groups.size();
    }
    JoinDecision decision;
    if (static_cast<int>(groups) > most_groups_) {
      for (const PlanPart* part : parts)
        decision.groups.insert(decision.groups.end(), part->groups.begin(),
                               part->groups.end());
      decision.why = absl::StrCat("more than ", most_groups_, " groups");
    } else {
      decision = weigher_.Weigh(parts);
    }
    Asked asked;
    asked.decision = static_cast<int>(result_.decisions.size());
    if (decision.taken) asked.saved = decision.saved_core_seconds;
    decision.taken = false;  // not yet
    result_.decisions.push_back(std::move(decision));
    return asked_.emplace(numbers, asked).first->second.saved;
  }

  void Connect(absl::Span<const ConnectEdge> edges, int /*level*/) override {
    const std::set<int> parts = PartsOf(edges);
    const int number = asked_.at(parts).decision;
    for (const auto& [others, asked] : asked_) {
      JoinDecision& decision = result_.decisions[asked.decision];
      decision.taken = asked.decision == number;
      if (asked.saved)
        decision.why = absl::StrCat(
            decision.taken ? "joined " : "another join saves more: ",
            decision.why);
    }
    const JoinDecision& decision = result_.decisions[number];
    const int first = decision.groups.front();
    for (const int part : parts) parts_.erase(part);
    for (const int g : decision.groups) part_of_[g] = first;
    parts_[first] = {
        {decision.groups, decision.joined, decision.joined_one_core_seconds},
        number};
  }

  ConnectedGroups Finish() && {
    for (const auto& [first, one] : parts_) {
      if (one.part.groups.size() < 2) continue;
      const JoinDecision& decision = result_.decisions[one.decision];
      result_.joins.push_back(
          {one.part.groups, decision.joined.tile, decision.why});
    }
    return std::move(result_);
  }

 private:
  struct Decided {
    PlanPart part;
    int decision = -1;  // that made it of others
  };
  struct Asked {
    int decision = 0;
    std::optional<double> saved;
  };

  std::set<int> PartsOf(absl::Span<const ConnectEdge> edges) const {
    std::set<int> parts;
    for (const ConnectEdge& edge : edges) {
      parts.insert(part_of_[edge.producer]);
      parts.insert(part_of_[edge.consumer]);
    }
    return parts;
  }

  const int most_groups_;
  JoinWeigher& weigher_;
  std::vector<int> part_of_;              // by group: the first of its part
  std::map<int, Decided> parts_;          // by first group
  std::map<std::set<int>, Asked> asked_;  // by parts: about this edge
  ConnectedGroups result_;
};

// Equal ones once.
void KeepFirstOfEqual(std::vector<JoinDecision>& decisions) {
  std::map<std::vector<int>, size_t> kept;
  std::vector<JoinDecision> result;
  for (JoinDecision& decision : decisions) {
    const auto [found, added] =
        kept.try_emplace(decision.groups, result.size());
    if (added) {
      result.push_back(std::move(decision));
    } else if (decision.taken) {
      result[found->second] = std::move(decision);
    }
  }
  decisions = std::move(result);
}

}  // namespace

ConnectedGroups ConnectPlan(const TensorGraph& graph, const Plan& plan,
                            const DeviceSpec& spec,
                            const ConnectPlanOptions& options) {
  JoinWeigher weigher(graph, plan, spec, options.weigh);
  const int groups = static_cast<int>(plan.groups.size());
  std::vector<ConnectEdge> edges;
  for (int g = 0; g < groups; ++g) {
    for (const int reader : weigher.rules().Readers(g))
      edges.push_back({g, reader});
  }
  ConnectSearchOptions how;
  how.search = options.search;
  how.most_nodes = options.most_groups;
  how.meetings = 2;
  how.on_progress = options.on_progress;
  while (true) {
    GroupJudge judge(groups, options.most_groups, weigher);
    SearchConnections(edges, {}, how, judge);
    ConnectedGroups connected = std::move(judge).Finish();
    KeepFirstOfEqual(connected.decisions);
    if (weigher.Verify(connected.joins)) return connected;
  }
}

Plan JoinedPlan(const TensorGraph& graph, const Plan& plan,
                const ConnectedGroups& connected) {
  Plan annotated = plan;
  for (const JoinDecision& decision : connected.decisions) {
    if (decision.taken) continue;
    // The last of the groups that could have stayed inside.
    Group& group = annotated.groups[decision.groups.front()];
    absl::StrAppend(
        &group.why, "; not joined with ",
        graph.tensor(plan.groups[decision.groups.back()].output).name, ": ",
        decision.why);
  }
  return WithJoins(graph, annotated, connected.joins);
}

}  // namespace tilewright
