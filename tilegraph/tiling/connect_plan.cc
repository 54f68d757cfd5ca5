#include "tilegraph/tiling/connect_plan.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tilewright {
namespace {

class Connector {
 public:
  Connector(const TensorGraph& graph, const Plan& plan,
            const ConnectPlanOptions& options, JoinWeigher& weigher)
      : graph_(graph),
        plan_(plan),
        options_(options),
        weigher_(weigher),
        rules_(weigher_.rules()),
        part_of_(plan.groups.size()) {
    for (size_t g = 0; g < plan.groups.size(); ++g) {
      part_of_[g] = static_cast<int>(g);
      parts_[static_cast<int>(g)] = weigher_.Alone(static_cast<int>(g));
      result_.costs.push_back(parts_[static_cast<int>(g)].cost);
    }
  }

  ConnectedGroups Run() {
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      if (options_.search == ConnectSearch::kEdges) {
        JoinWithReaders(static_cast<int>(g));
      } else {
        Grow(static_cast<int>(g));
      }
      if (options_.on_progress)
        options_.on_progress(static_cast<int>(g) + 1,
                             static_cast<int>(plan_.groups.size()));
    }
    for (const auto& [first, part] : parts_) {
      if (part.groups.size() < 2) continue;
      const JoinDecision& decision = result_.decisions[decision_of_.at(first)];
      result_.joins.push_back(
          {part.groups, decision.joined.tile, decision.why});
    }
    return std::move(result_);
  }

 private:
  // `groups` with whatever has to be inside for their results to stay inside:
  // readers of all but the last. Empty, with the reason, if there is none.
  std::vector<int> Closed(std::set<int> groups, std::string& why) const {
    for (bool grown = true; grown;) {
      grown = false;
      const std::set<int> before = groups;
      for (const int g : before) {
        const std::vector<int>& all = parts_.at(part_of_[g]).groups;
        groups.insert(all.begin(), all.end());
      }
      for (const int g : groups) {
        if (g == *groups.rbegin()) break;
        if (!rules_.WhyInMemory(g).empty()) {
          why = absl::StrCat(Name(g),
                             " stays in memory: ", rules_.WhyInMemory(g));
          return {};
        }
        for (const int reader : rules_.Readers(g)) {
          if (groups.count(reader)) continue;
          groups.insert(reader);
          grown = true;
          break;
        }
        if (grown) break;
      }
      grown |= groups.size() > before.size();
      if (static_cast<int>(groups.size()) > options_.most_groups) {
        why = absl::StrCat("what reads ", Name(*before.begin()),
                           " meets again only after more than ",
                           options_.most_groups, " groups");
        return {};
      }
    }
    return {groups.begin(), groups.end()};
  }

  const std::string& Name(int g) const {
    return graph_.tensor(plan_.groups[g].output).name;
  }

  JoinDecision Weigh(const std::vector<int>& groups) {
    std::set<int> firsts;
    for (const int g : groups) firsts.insert(part_of_[g]);
    std::vector<PlanPart*> parts;
    for (const int first : firsts) parts.push_back(&parts_.at(first));
    return weigher_.Weigh(parts);
  }

  void Take(JoinDecision decision) {
    const int first = decision.groups.front();
    for (const int g : decision.groups) {
      parts_.erase(part_of_[g]);
      decision_of_.erase(part_of_[g]);
    }
    for (const int g : decision.groups) part_of_[g] = first;
    parts_[first] = {decision.groups, decision.joined,
                     decision.joined_one_core_seconds};
    result_.decisions.push_back(std::move(decision));
    decision_of_[first] = static_cast<int>(result_.decisions.size()) - 1;
  }

  // Ways to keep the result of the part that ends in `g` inside: with its
  // readers, and with what comes after those, up to `steps` times.
  std::vector<std::vector<int>> Ways(int g, int steps, std::string& why) const {
    std::vector<std::vector<int>> ways;
    int last = g;
    const std::vector<int>& part = parts_.at(part_of_[g]).groups;
    std::set<int> groups(part.begin(), part.end());
    for (int step = 0; step < steps; ++step) {
      const std::vector<int>& readers = rules_.Readers(last);
      if (readers.empty()) break;
      groups.insert(readers.begin(), readers.end());
      std::string reason;
      const std::vector<int> closed = Closed(groups, reason);
      if (closed.empty()) {
        if (step == 0) why = reason;
        break;
      }
      ways.push_back(closed);
      groups = {closed.begin(), closed.end()};
      last = closed.back();
    }
    return ways;
  }

  // Takes the way that saves most, if one saves enough.
  bool TakeBest(int g, int steps) {
    if (rules_.Readers(g).empty()) return false;
    JoinDecision none;
    none.groups = {g};
    none.groups.insert(none.groups.end(), rules_.Readers(g).begin(),
                       rules_.Readers(g).end());
    std::optional<JoinDecision> best, first;
    for (const std::vector<int>& way : Ways(g, steps, none.why)) {
      JoinDecision weighed = Weigh(way);
      if (weighed.joined.tile.empty()) {
        if (none.why.empty()) none.why = std::move(weighed.why);
        continue;
      }
      if (!first) first = weighed;
      if (weighed.taken &&
          (!best || weighed.saved_core_seconds > best->saved_core_seconds))
        best = std::move(weighed);
    }
    if (best) {
      Take(*std::move(best));
      return true;
    }
    result_.decisions.push_back(first ? *std::move(first) : std::move(none));
    return false;
  }

  void JoinWithReaders(int g) {
    // A part ends in its last group; inner results are inside already.
    if (parts_.at(part_of_[g]).groups.back() != g) return;
    TakeBest(g, /*steps=*/2);
  }

  void Grow(int g) {
    if (part_of_[g] != g || parts_.at(g).groups.size() > 1) return;
    while (TakeBest(parts_.at(part_of_[g]).groups.back(), /*steps=*/1)) {
    }
  }

  const TensorGraph& graph_;
  const Plan& plan_;
  const ConnectPlanOptions& options_;
  JoinWeigher& weigher_;
  const JoinRules& rules_;
  std::vector<int> part_of_;        // by group: the first of its part
  std::map<int, PlanPart> parts_;   // by first group
  std::map<int, int> decision_of_;  // of parts that were joined
  ConnectedGroups result_;
};

}  // namespace

ConnectedGroups ConnectPlan(const TensorGraph& graph, const Plan& plan,
                            const DeviceSpec& spec,
                            const ConnectPlanOptions& options) {
  JoinWeigher weigher(graph, plan, spec, options.weigh);
  while (true) {
    ConnectedGroups connected = Connector(graph, plan, options, weigher).Run();
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
