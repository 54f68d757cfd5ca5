#include "tilegraph/tiling/connect_search.h"

#include <algorithm>
#include <map>
#include <set>

namespace tilewright {
namespace {

using Edges = std::vector<ConnectEdge>;

class Search {
 public:
  Search(absl::Span<const ConnectEdge> edges,
         absl::Span<const ConnectEdge> connected,
         const ConnectSearchOptions& options, ConnectJudge& judge)
      : edges_(edges.begin(), edges.end()),
        connected_(connected.begin(), connected.end()),
        options_(options),
        judge_(judge) {
    for (const ConnectEdge& edge : edges_)
      leaving_[edge.producer].push_back(edge);
  }

  void Run() {
    for (size_t e = 0; e < edges_.size(); ++e) {
      if (options_.search == ConnectSearch::kGreedy) {
        Grow(edges_[e].producer);
      } else if (!connected_.count(edges_[e])) {
        Decide(edges_[e], options_.meetings);
      }
      if (options_.on_progress)
        options_.on_progress(static_cast<int>(e) + 1,
                             static_cast<int>(edges_.size()));
    }
  }

 private:
  // Adds the edges of all paths from `node` to where they meet; that node. None
  // if a path ends before, or they are too long.
  std::optional<int> UntilPathsMeet(int node, Edges& edges) const {
    std::set<int> passed, open = {node};
    do {
      node = *open.begin();
      open.erase(open.begin());
      passed.insert(node);
      const auto found = leaving_.find(node);
      if (found == leaving_.end() ||
          static_cast<int>(passed.size()) >= options_.most_nodes)
        return std::nullopt;
      for (const ConnectEdge& edge : found->second) {
        if (!connected_.count(edge)) edges.push_back(edge);
        open.insert(edge.consumer);
      }
    } while (open.size() > 1);
    return *open.begin();
  }

  // What may be connected at once to decide about an edge.
  std::vector<Edges> Ways(const ConnectEdge& edge, int meetings) const {
    std::vector<Edges> ways = {{edge}};
    Edges paths;
    std::optional<int> node = edge.producer;
    for (int i = 0; i < meetings; ++i) {
      node = UntilPathsMeet(*node, paths);
      if (!node) break;
      if (paths != ways.back()) ways.push_back(paths);
    }
    return ways;
  }

  // The edges that are connected; none if that saves nothing.
  Edges Decide(const ConnectEdge& edge, int meetings) {
    judge_.Begin(edge);
    Edges best;
    int best_level = 0;
    double best_saved = 0;
    for (const Edges& way : Ways(edge, meetings)) {
      for (int level = 1; level <= options_.levels; ++level) {
        const std::optional<double> saved = judge_.Saved(way, level);
        if (!saved || (!best.empty() && *saved <= best_saved)) continue;
        best = way, best_level = level, best_saved = *saved;
      }
    }
    if (best.empty()) return best;
    judge_.Connect(best, best_level);
    connected_.insert(best.begin(), best.end());
    for (const ConnectEdge& one : best) {
      grown_.insert(one.producer);
      grown_.insert(one.consumer);
    }
    return best;
  }

  void Grow(int node) {
    if (!grown_.insert(node).second) return;
    for (auto found = leaving_.find(node); found != leaving_.end();
         found = leaving_.find(node)) {
      const ConnectEdge& edge = found->second.front();
      if (connected_.count(edge)) return;
      const Edges taken = Decide(edge, /*meetings=*/1);
      if (taken.empty()) return;
      // What all paths lead to.
      for (const ConnectEdge& one : taken) node = std::max(node, one.consumer);
    }
  }

  const Edges edges_;
  std::map<int, Edges> leaving_;
  std::set<ConnectEdge> connected_;
  std::set<int> grown_;  // nodes that belong to a part, or begin none
  const ConnectSearchOptions& options_;
  ConnectJudge& judge_;
};

}  // namespace

void SearchConnections(absl::Span<const ConnectEdge> edges,
                       absl::Span<const ConnectEdge> connected,
                       const ConnectSearchOptions& options,
                       ConnectJudge& judge) {
  Search(edges, connected, options, judge).Run();
}

}  // namespace tilewright
