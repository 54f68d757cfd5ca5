#include "tilegraph/fuse/connect_search.h"

#include <algorithm>
#include <iterator>
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
        given_(connected.begin(), connected.end()),
        options_(options),
        judge_(judge) {
    for (const ConnectEdge& edge : edges_)
      leaving_[edge.producer].push_back(edge);
    for (const ConnectEdge& edge : given_) Connect(edge);
  }

  void Run() {
    for (const ConnectEdge& edge : edges_) {
      if (options_.search == ConnectSearch::kGreedy) {
        Grow(edge.producer);
      } else if (!connected_.count(edge)) {
        Decide(edge, options_.meetings);
      }
    }
  }

 private:
  void Connect(const ConnectEdge& edge) {
    connected_.insert(edge);
    connected_at_[edge.producer].insert(edge);
    connected_at_[edge.consumer].insert(edge);
  }
  void Disconnect(const ConnectEdge& edge) {
    connected_.erase(edge);
    connected_at_[edge.producer].erase(edge);
    connected_at_[edge.consumer].erase(edge);
  }
  // The connected edges that enter or leave a node, in their order.
  const std::set<ConnectEdge>& ConnectedAt(int node) const {
    static const auto& none = *new std::set<ConnectEdge>();
    const auto found = connected_at_.find(node);
    return found == connected_at_.end() ? none : found->second;
  }

  // Adds the edges of all paths from `node` to where they meet; that node. None
  // if a path ends before, or they are too long.
  std::optional<int> UntilPathsMeet(int node, Edges& edges) const {
    std::set<int> passed, open = {node};
    do {
      node = *open.begin();
      open.erase(open.begin());
      passed.insert(node);
      const auto found = leaving_.find(node);
      if (found == leaving_.end()) return std::nullopt;
      for (const ConnectEdge& edge : found->second) {
        if (!connected_.count(edge)) edges.push_back(edge);
        open.insert(edge.consumer);
        // All that are open are passed, but for where they meet.
        if (static_cast<int>(passed.size() + open.size()) > options_.most_nodes)
          return std::nullopt;
      }
    } while (open.size() > 1);
    return *open.begin();
  }

  // Sets of edges that may be connected at once to decide about an edge.
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

  // The same way from behind its first node.
  static Edges WithoutFirst(const Edges& way, int first) {
    Edges rest;
    std::copy_if(
        way.begin(), way.end(), std::back_inserter(rest),
        [&](const ConnectEdge& edge) { return edge.producer != first; });
    return rest;
  }

  // The nodes that the search has connected with the ends of `way`.
  std::set<int> NodesOf(const Edges& way) const {
    std::set<int> nodes;
    std::vector<int> open;
    const auto reach = [&](const ConnectEdge& edge) {
      for (const int node : {edge.producer, edge.consumer}) {
        if (nodes.insert(node).second) open.push_back(node);
      }
    };
    for (const ConnectEdge& edge : way) reach(edge);
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      for (const ConnectEdge& edge : ConnectedAt(node)) reach(edge);
    }
    return nodes;
  }

  // The same way, with a node left out that begins what is connected: the edges
  // that leave it, by node.
  std::vector<Edges> Detached(const Edges& way) const {
    std::set<int> kept;
    for (const ConnectEdge& edge : way) {
      kept.insert(edge.producer);
      kept.insert(edge.consumer);
    }
    std::vector<Edges> result;
    for (const int node : NodesOf(way)) {
      if (static_cast<int>(result.size()) == options_.most_detached) break;
      Edges leaving;
      bool begins = !kept.count(node);
      for (const ConnectEdge& edge : ConnectedAt(node)) {
        if (edge.consumer == node) begins = false;
        if (edge.producer != node) continue;
        if (given_.count(edge)) begins = false;
        leaving.push_back(edge);
      }
      if (begins && !leaving.empty()) result.push_back(std::move(leaving));
    }
    return result;
  }

  // What may be done about an edge.
  std::vector<ConnectMove> Moves(const ConnectEdge& edge, int meetings) const {
    std::vector<ConnectMove> moves;
    for (const Edges& way : Ways(edge, meetings)) {
      moves.push_back({way, {}});
      if (options_.may_leave_first) {
        Edges rest = WithoutFirst(way, edge.producer);
        if (!rest.empty()) moves.push_back({std::move(rest), {}});
      }
      for (Edges& detach : Detached(way))
        moves.push_back({way, std::move(detach)});
    }
    return moves;
  }

  // Decides about an edge and returns the edges that are connected with it;
  // none if that saves nothing.
  Edges Decide(const ConnectEdge& edge, int meetings) {
    const std::vector<ConnectMove> moves = Moves(edge, meetings);
    judge_.Begin(edge, moves);
    ConnectMove best;
    int best_level = 0;
    double best_saved = 0;
    for (const ConnectMove& move : moves) {
      for (int level = 1; level <= options_.levels; ++level) {
        const std::optional<double> saved = judge_.Saved(move, level);
        if (!saved || (!best.connect.empty() && *saved <= best_saved)) continue;
        best = move, best_level = level, best_saved = *saved;
      }
    }
    if (best.connect.empty()) return {};
    judge_.Connect(best, best_level);
    for (const ConnectEdge& one : best.detach) Disconnect(one);
    for (const ConnectEdge& one : best.connect) {
      Connect(one);
      grown_.insert(one.producer);
      grown_.insert(one.consumer);
    }
    return best.connect;
  }

  void Grow(int node) {
    if (!grown_.insert(node).second) return;
    for (auto found = leaving_.find(node); found != leaving_.end();
         found = leaving_.find(node)) {
      const ConnectEdge& edge = found->second.front();
      if (connected_.count(edge)) return;
      const Edges taken = Decide(edge, /*meetings=*/1);
      if (taken.empty()) return;
      // All paths lead to this node.
      for (const ConnectEdge& one : taken) node = std::max(node, one.consumer);
    }
  }

  const Edges edges_;
  std::map<int, Edges> leaving_;
  const std::set<ConnectEdge> given_;
  std::set<ConnectEdge> connected_;
  std::map<int, std::set<ConnectEdge>> connected_at_;  // by both ends
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
