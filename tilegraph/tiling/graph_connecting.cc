#include "tilegraph/tiling/graph_connecting.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
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

TileEdge ToTileEdge(const ConnectEdge& edge) {
  return {edge.producer, edge.consumer};
}

class TileJudge : public ConnectJudge {
 public:
  TileJudge(TileGraph& graph, const DeviceSpec& spec,
            const ConnectOptions& options)
      : graph_(graph), spec_(spec), options_(options) {}

  void Begin(const ConnectEdge& edge) override {
    result_.decisions.push_back({ToTileEdge(edge), {}, 0});
  }

  std::optional<double> Saved(const ConnectMove& move, int level) override {
    ConnectChoice choice;
    choice.level = level;
    choice.edges = static_cast<int>(move.connect.size());
    choice.detached = static_cast<int>(move.detach.size());
    std::vector<ConnectEdge> edges = move.connect;
    edges.insert(edges.end(), move.detach.begin(), move.detach.end());
    choice.apart_seconds = SecondsAround(edges, choice.why_not);
    std::vector<int> before;
    for (const ConnectEdge& edge : edges)
      before.push_back(graph_.edges().at(ToTileEdge(edge)));
    SetLevels(move, level);
    choice.seconds = SecondsAround(edges, choice.why_not);
    for (size_t i = 0; i < edges.size(); ++i)
      graph_.SetConnect(ToTileEdge(edges[i]), before[i]);
    const double saved = choice.apart_seconds - choice.seconds;
    const bool worth =
        choice.seconds < choice.apart_seconds * (1 - options_.least_gain);
    result_.decisions.back().choices.push_back(std::move(choice));
    if (!worth || !error_.ok()) return std::nullopt;
    return saved;
  }

  void Connect(const ConnectMove& move, int level) override {
    SetLevels(move, level);
    result_.decisions.back().level = level;
  }

  absl::StatusOr<ConnectedPlan> Finish() && {
    TW_RETURN_IF_ERROR(error_);
    TW_ASSIGN_OR_RETURN(const std::vector<Subgraph> parts, graph_.Parts(0));
    for (const Subgraph& part : parts) {
      TW_ASSIGN_OR_RETURN(const Priced* priced, Price(part));
      result_.parts.push_back(priced->plan);
      result_.costs.push_back(priced->cost);
    }
    return std::move(result_);
  }

 private:
  void SetLevels(const ConnectMove& move, int level) {
    for (const ConnectEdge& edge : move.detach)
      graph_.SetConnect(ToTileEdge(edge), 0);
    for (const ConnectEdge& edge : move.connect)
      graph_.SetConnect(ToTileEdge(edge), level);
  }

  // Of the parts that hold the ends of `edges`; infinite with the reason.
  double SecondsAround(absl::Span<const ConnectEdge> edges,
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
      if (std::none_of(edges.begin(), edges.end(),
                       [&](const ConnectEdge& edge) {
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
        if (part.members.size() == 1) error_ = priced.status();
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
  ConnectedPlan result_;
  absl::Status error_;  // the first that no decision can be made with
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
  std::vector<ConnectEdge> edges, connected;
  for (const auto& [edge, level] : graph.edges()) {
    edges.push_back({edge.producer, edge.consumer});
    if (level > 0) connected.push_back(edges.back());
  }
  ConnectSearchOptions how;
  how.search = options.search;
  how.levels = PlannedLevels(spec, options.tiling);
  how.most_nodes = options.most_members;
  TileJudge judge(graph, spec, options);
  SearchConnections(edges, connected, how, judge);
  return std::move(judge).Finish();
}

}  // namespace tilewright
