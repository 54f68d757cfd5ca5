#include "tilegraph/tiling/connect_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/spec/spec_fingerprint.h"

namespace tilewright {
namespace {

// "1x64x8", as the cache holds it.
std::string TileText(const std::vector<int64_t>& tile) {
  return absl::StrJoin(tile, "x");
}
std::optional<std::vector<int64_t>> ParseTile(const std::string& text) {
  std::vector<int64_t> tile;
  for (const absl::string_view part : absl::StrSplit(text, 'x')) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 1) return std::nullopt;
    tile.push_back(size);
  }
  return tile;
}

double FarBytes(const GroupCost& cost) {
  return cost.memory_bytes + cost.shared_bytes;
}

std::string Percent(double share) {
  return absl::StrFormat("%.0f %%", 100 * share);
}

std::string Kib(double bytes) {
  return absl::StrFormat("%.0f KiB", bytes / 1024);
}

// What makes a join lose, or gain too little.
std::string WhyNot(const JoinDecision& decision) {
  const GroupCost& joined = decision.joined;
  if (!joined.fits)
    return absl::StrCat("the smallest tiles keep ",
                        Kib(static_cast<double>(joined.scratch_bytes)),
                        " between stages, more than a core's cache holds");
  const double ratio = joined.core_seconds / decision.apart_core_seconds;
  std::string why =
      ratio > 1 ? absl::StrCat("would take ", Percent(ratio - 1), " longer")
                : absl::StrCat("would save only ", Percent(1 - ratio));
  absl::StrAppend(&why, " in tiles of [", absl::StrJoin(joined.tile, ", "),
                  "]");
  const double more = FarBytes(joined) - decision.apart_bytes;
  if (joined.recompute > 1.02)
    absl::StrAppend(&why, ", computes ",
                    absl::StrFormat("%.2f", joined.recompute),
                    " times as much");
  if (more > 0) {
    absl::StrAppend(&why, ", reads ", Kib(more),
                    " more: what stays apart is read once");
  } else {
    absl::StrAppend(&why, ", moves ", Kib(-more), " less");
  }
  return why;
}

class Connector {
 public:
  Connector(const TensorGraph& graph, const Plan& plan, const DeviceSpec& spec,
            const ConnectPlanOptions& options)
      : graph_(graph),
        plan_(plan),
        options_(options),
        cache_(options.cache != nullptr ? options.cache : &own_cache_),
        rules_(graph, plan),
        pricer_(graph, plan, spec),
        spec_key_(FullFingerprint(spec).ToString()),
        part_of_(plan.groups.size()) {
    for (size_t g = 0; g < plan.groups.size(); ++g) {
      part_of_[g] = static_cast<int>(g);
      parts_[static_cast<int>(g)] = {static_cast<int>(g)};
    }
  }

  ConnectedGroups Run() {
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      absl::StatusOr<GroupCost> cost = Price(plan_.groups[g]);
      result_.costs.push_back(cost.ok() ? *std::move(cost) : GroupCost());
    }
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      if (options_.search == ConnectSearch::kEdges) {
        JoinWithReaders(static_cast<int>(g));
      } else {
        Grow(static_cast<int>(g));
      }
    }
    for (const auto& [part, groups] : parts_) {
      if (groups.size() < 2) continue;
      const JoinDecision& decision = result_.decisions[decision_of_.at(part)];
      result_.joins.push_back({groups, decision.joined.tile, decision.why});
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
        for (const int other : parts_.at(part_of_[g])) groups.insert(other);
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

  // The group's best tile; remembered by signature.
  absl::StatusOr<GroupCost> Price(const Group& group) {
    const std::string key =
        absl::StrCat(spec_key_, "\n", pricer_.Signature(group));
    const auto known = priced_.find(key);
    if (known != priced_.end()) return known->second;
    const std::optional<std::string> cached = cache_->Find(key);
    std::optional<std::vector<int64_t>> tile;
    if (cached) tile = ParseTile(*cached);
    // A tile tells its cost; one that does not fit the output is no tile.
    absl::StatusOr<GroupCost> cost =
        tile && tile->size() == graph_.tensor(group.output).shape.size()
            ? pricer_.Cost(group, *tile)
            : pricer_.Best(group);
    if (cost.ok()) cache_->Put(key, TileText(cost->tile));
    priced_.emplace(key, cost);
    return cost;
  }

  // Weighs joining `groups` (closed) into one; in `why_not` why it cannot be.
  std::optional<JoinDecision> Weigh(const std::vector<int>& groups,
                                    std::string& why_not) {
    JoinDecision decision;
    decision.groups = groups;
    std::set<int> parts;
    for (const int g : groups) parts.insert(part_of_[g]);
    for (const int part : parts) {
      const GroupCost& cost = CostOfPart(part);
      if (cost.tile.empty() &&
          !graph_.tensor(plan_.groups[part].output).shape.empty()) {
        why_not = absl::StrCat("what ", Name(part),
                               " reads of a tile cannot be told");
        return std::nullopt;
      }
      decision.apart_core_seconds += cost.core_seconds;
      decision.apart_bytes += FarBytes(cost);
    }
    absl::StatusOr<Group> group = rules_.Joined(groups);
    if (!group.ok()) {
      why_not = std::string(group.status().message());
      return std::nullopt;
    }
    absl::StatusOr<GroupCost> cost = Price(*group);
    if (!cost.ok()) {
      why_not = std::string(cost.status().message());
      return std::nullopt;
    }
    decision.joined = *std::move(cost);
    if (!decision.joined.fits ||
        decision.joined.core_seconds >
            decision.apart_core_seconds * (1 - options_.least_gain)) {
      decision.why = WhyNot(decision);
      return decision;
    }
    const absl::Status made = Express(groups, *group, decision.joined.tile);
    if (!made.ok()) {
      decision.why = absl::StrCat("no schedule for it: ", made.message());
      return decision;
    }
    decision.taken = true;
    decision.why = absl::StrCat(
        "joined in tiles of [", absl::StrJoin(decision.joined.tile, ", "),
        "]: saves ",
        Percent(1 - decision.joined.core_seconds / decision.apart_core_seconds),
        " and ", Kib(decision.apart_bytes - FarBytes(decision.joined)));
    return decision;
  }

  // Whether there is a kernel for `group`, which `groups` give; asked once per
  // signature.
  absl::Status Express(const std::vector<int>& groups, const Group& group,
                       const std::vector<int64_t>& tile) {
    if (!options_.expressible) return absl::OkStatus();
    const std::string key =
        absl::StrCat(TileText(tile), "\n", pricer_.Signature(group));
    const auto known = expressed_.find(key);
    if (known != expressed_.end()) return known->second;
    const Plan joined = WithJoins(graph_, plan_, {Join{groups, tile, ""}});
    const auto made =
        std::find_if(joined.groups.begin(), joined.groups.end(),
                     [](const Group& one) { return !one.stages.empty(); });
    return expressed_[key] = options_.expressible(*made, joined);
  }

  const GroupCost& CostOfPart(int part) const {
    const auto decision = decision_of_.find(part);
    return decision == decision_of_.end()
               ? result_.costs[part]
               : result_.decisions[decision->second].joined;
  }

  void Refuse(std::vector<int> groups, std::string why) {
    JoinDecision decision;
    decision.groups = std::move(groups);
    decision.why = std::move(why);
    result_.decisions.push_back(std::move(decision));
  }

  void Take(JoinDecision decision) {
    const int part = decision.groups.front();
    for (const int g : decision.groups) {
      parts_.erase(part_of_[g]);
      decision_of_.erase(part_of_[g]);
    }
    for (const int g : decision.groups) part_of_[g] = part;
    parts_[part] = decision.groups;
    result_.decisions.push_back(std::move(decision));
    decision_of_[part] = static_cast<int>(result_.decisions.size()) - 1;
  }

  // Ways to keep the result of the part that ends in `g` inside: with its
  // readers, and with what comes after those, up to `steps` times.
  std::vector<std::vector<int>> Ways(int g, int steps, std::string& why) const {
    std::vector<std::vector<int>> ways;
    int last = g;
    std::set<int> groups(parts_.at(part_of_[g]).begin(),
                         parts_.at(part_of_[g]).end());
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
    std::string why;
    const std::vector<std::vector<int>> ways = Ways(g, steps, why);
    std::optional<JoinDecision> best, first;
    for (const std::vector<int>& way : ways) {
      std::string why_not;
      std::optional<JoinDecision> weighed = Weigh(way, why_not);
      if (!weighed) {
        if (why.empty()) why = why_not;
        continue;
      }
      const auto saved = [](const JoinDecision& one) {
        return one.apart_core_seconds - one.joined.core_seconds;
      };
      if (!first) first = weighed;
      if (weighed->taken && (!best || saved(*weighed) > saved(*best)))
        best = std::move(weighed);
    }
    if (best) {
      Take(*std::move(best));
      return true;
    }
    if (first) {
      result_.decisions.push_back(*std::move(first));
    } else {
      std::vector<int> groups = {g};
      groups.insert(groups.end(), rules_.Readers(g).begin(),
                    rules_.Readers(g).end());
      Refuse(std::move(groups), why);
    }
    return false;
  }

  void JoinWithReaders(int g) {
    // A part ends in its last group; inner results are inside already.
    if (parts_.at(part_of_[g]).back() != g) return;
    TakeBest(g, /*steps=*/2);
  }

  void Grow(int g) {
    if (part_of_[g] != g || parts_.at(g).size() > 1) return;
    while (TakeBest(parts_.at(part_of_[g]).back(), /*steps=*/1)) {
    }
  }

  const TensorGraph& graph_;
  const Plan& plan_;
  const ConnectPlanOptions& options_;
  MemoryPlanCache own_cache_;
  PlanCache* const cache_;
  const JoinRules rules_;
  const GroupPricer pricer_;
  const std::string spec_key_;
  std::vector<int> part_of_;               // by group: the first of its part
  std::map<int, std::vector<int>> parts_;  // by first group
  std::map<int, int> decision_of_;         // of parts that were joined
  std::map<std::string, absl::StatusOr<GroupCost>> priced_;
  std::map<std::string, absl::Status> expressed_;
  ConnectedGroups result_;
};

}  // namespace

ConnectedGroups ConnectPlan(const TensorGraph& graph, const Plan& plan,
                            const DeviceSpec& spec,
                            const ConnectPlanOptions& options) {
  return Connector(graph, plan, spec, options).Run();
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
