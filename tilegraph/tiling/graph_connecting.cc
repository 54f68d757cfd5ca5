#include "tilegraph/tiling/graph_connecting.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright {
namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();

// A part with its best plan, by model or measured.
struct Priced {
  TilePlan plan;
  PlanCost cost;
};

class Connector {
 public:
  Connector(TileGraph& graph, const DeviceSpec& spec,
            const ConnectOptions& options)
      : graph_(graph),
        spec_(spec),
        options_(options),
        levels_(PlannedLevels(spec, options.tiling)) {}

  absl::StatusOr<ConnectedPlan> Run() {
    ConnectedPlan result;
    std::vector<TileEdge> edges;
    for (const auto& [edge, level] : graph_.edges()) edges.push_back(edge);
    for (const TileEdge& edge : edges) {
      // An earlier decision may have joined it.
      if (graph_.ConnectLevel(edge) > 0) continue;
      TW_ASSIGN_OR_RETURN(ConnectDecision decision, Decide(edge));
      result.decisions.push_back(std::move(decision));
    }
    TW_ASSIGN_OR_RETURN(const std::vector<Subgraph> parts, graph_.Parts(0));
    for (const Subgraph& part : parts) {
      TW_ASSIGN_OR_RETURN(const Priced* priced, Price(part));
      result.parts.push_back(priced->plan);
      result.costs.push_back(priced->cost);
    }
    return result;
  }

 private:
  // The edges of all paths from the producer to where they meet again: a part
  // that ends before has several results, which seldom have a common tiling.
  // Only `edge` if they do not meet.
  std::vector<TileEdge> UntilPathsMeet(const TileEdge& edge) const {
    std::map<TensorId, std::vector<TileEdge>> leaving;
    for (const auto& [one, level] : graph_.edges())
      leaving[one.producer].push_back(one);
    std::vector<TileEdge> edges;
    std::set<TensorId> open;
    TensorId next = edge.producer;
    do {
      const auto found = leaving.find(next);
      if (found == leaving.end()) return {edge};  // a path ends
      for (const TileEdge& one : found->second) {
        if (graph_.ConnectLevel(one) == 0) edges.push_back(one);
        open.insert(one.consumer);
      }
      next = *open.begin();
      open.erase(open.begin());
    } while (!open.empty());
    return edges;
  }

  absl::StatusOr<ConnectDecision> Decide(const TileEdge& edge) {
    ConnectDecision decision;
    decision.edge = edge;
    std::vector<std::vector<TileEdge>> ways = {{edge}, UntilPathsMeet(edge)};
    if (ways[1].size() == 1) ways.pop_back();
    std::vector<TileEdge> taken;
    double limit = 0;
    for (int level = 0; level <= levels_; ++level) {
      for (const std::vector<TileEdge>& way : ways) {
        for (const TileEdge& one : way) graph_.SetConnect(one, level);
        ConnectChoice choice;
        choice.level = level;
        choice.edges = static_cast<int>(way.size());
        // The same parts for both, so that their times compare.
        TW_ASSIGN_OR_RETURN(choice.seconds,
                            SecondsAround(ways.back(), choice.why_not));
        if (level == 0) {
          limit = choice.seconds * (1 - options_.least_gain);
        } else if (choice.seconds < limit) {
          limit = choice.seconds;
          decision.level = level;
          taken = way;
        }
        for (const TileEdge& one : way) graph_.SetConnect(one, 0);
        decision.choices.push_back(std::move(choice));
        if (level == 0) break;
      }
    }
    for (const TileEdge& one : taken) graph_.SetConnect(one, decision.level);
    return decision;
  }

  // Of the parts that hold the ends of `edges`; infinite with the reason.
  absl::StatusOr<double> SecondsAround(const std::vector<TileEdge>& edges,
                                       std::string& why_not) {
    const absl::StatusOr<std::vector<Subgraph>> parts = graph_.Parts(0);
    if (!parts.ok()) {
      why_not = std::string(parts.status().message());
      return kImpossible;
    }
    double seconds = 0;
    for (const Subgraph& part : *parts) {
      const auto holds = [&](TensorId id) {
        return std::binary_search(part.members.begin(), part.members.end(), id);
      };
      if (std::none_of(edges.begin(), edges.end(), [&](const TileEdge& edge) {
            return holds(edge.producer) || holds(edge.consumer);
          }))
        continue;
      if (static_cast<int>(part.members.size()) > options_.most_members) {
        why_not = absl::StrCat("more than ", options_.most_members,
                               " computes in one part");
        return kImpossible;
      }
      const absl::StatusOr<const Priced*> priced = Price(part);
      if (!priced.ok()) {
        // A single compute must have a plan.
        if (part.members.size() == 1) return priced.status();
        why_not = std::string(priced.status().message());
        return kImpossible;
      }
      if (!(*priced)->cost.fits && part.members.size() > 1) {
        why_not = "no tile fits";
        return kImpossible;
      }
      seconds += (*priced)->cost.seconds;
    }
    return seconds;
  }

  absl::StatusOr<const Priced*> Price(const Subgraph& part) {
    std::vector<int> key(part.members.begin(), part.members.end());
    for (const auto& [edge, level] : graph_.edges()) {
      if (std::binary_search(part.members.begin(), part.members.end(),
                             edge.producer) &&
          std::binary_search(part.members.begin(), part.members.end(),
                             edge.consumer))
        key.push_back(-level);
    }
    const auto known = priced_.find(key);
    if (known != priced_.end()) return &known->second;
    TW_ASSIGN_OR_RETURN(std::vector<TilePlan> plans,
                        TileSubgraph(graph_, part, spec_, options_.tiling));
    Priced best;
    best.cost.seconds = kImpossible;
    for (TilePlan& plan : plans) {
      PlanCost cost = CostOf(plan, spec_);
      if (options_.profile) {
        const absl::StatusOr<double> seconds = options_.profile(plan);
        if (!seconds.ok()) continue;
        cost.seconds = *seconds;
      }
      if (cost.seconds >= best.cost.seconds) continue;
      best = {std::move(plan), std::move(cost)};
      if (!options_.profile) break;  // they are sorted by the model's time
    }
    if (best.cost.seconds == kImpossible)
      return absl::FailedPreconditionError("no candidate of the part runs");
    return &priced_.emplace(std::move(key), std::move(best)).first->second;
  }

  TileGraph& graph_;
  const DeviceSpec& spec_;
  const ConnectOptions& options_;
  const int levels_;
  // By members and the levels between them.
  std::map<std::vector<int>, Priced> priced_;
};

}  // namespace

double ConnectedPlan::seconds() const {
  return std::accumulate(
      costs.begin(), costs.end(), 0.0,
      [](double sum, const PlanCost& cost) { return sum + cost.seconds; });
}

absl::StatusOr<ConnectedPlan> ConnectGraph(TileGraph& graph,
                                           const DeviceSpec& spec,
                                           const ConnectOptions& options) {
  return Connector(graph, spec, options).Run();
}

}  // namespace tilewright
