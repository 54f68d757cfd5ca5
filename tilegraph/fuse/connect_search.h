// GraphConnecting (Welder, figure 7), whatever is connected: computes at levels
// of memory, groups of a plan (connect_plan.h).
//
// Edges are decided in topological order, each against what is decided already:
// alone, and together with all edges of all paths up to where these meet again,
// since a result that somebody else needs as well is seldom worth fusing
// otherwise; these, if asked for, also without the first node, which stays
// apart then. What is decided is not final: a way is also tried with a node
// that begins a part left out of it again, as it may stand in the way of more.
// Greedy growth, as in Welder's code, grows a part along its last
// node's readers as far as that pays and starts anew behind it.
#ifndef TILEWRIGHT_TILEGRAPH_FUSE_CONNECT_SEARCH_H_
#define TILEWRIGHT_TILEGRAPH_FUSE_CONNECT_SEARCH_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace tilewright {

// Edge by edge, as the paper has it, or groups grown one by one.
enum class ConnectSearch { kEdges, kGreedy };

// Between nodes that are numbered in a topological order.
struct ConnectEdge {
  int producer, consumer;
  friend bool operator<(const ConnectEdge& a, const ConnectEdge& b) {
    return std::pair(a.producer, a.consumer) <
           std::pair(b.producer, b.consumer);
  }
  friend bool operator==(const ConnectEdge& a, const ConnectEdge& b) {
    return a.producer == b.producer && a.consumer == b.consumer;
  }
};

// A change of what is decided. Both ascending.
struct ConnectMove {
  std::vector<ConnectEdge> connect;
  // Connected until now: all that leave one node, which is no end of `connect`.
  std::vector<ConnectEdge> detach;
};

// Who knows what connecting costs.
class ConnectJudge {
 public:
  virtual ~ConnectJudge() = default;

  // The questions that follow are about this edge, one after the other of these
  // moves at each level.
  virtual void Begin(const ConnectEdge& edge,
                     absl::Span<const ConnectMove> moves) = 0;
  // Returns what the move saves, connecting at `level`, everything else decided
  // staying as it is. None if that cannot be, or is not worth it. A move that
  // detaches is asked about after the one that only connects the same.
  virtual std::optional<double> Saved(const ConnectMove& move, int level) = 0;
  // It is decided: the best of what was asked since Begin.
  virtual void Connect(const ConnectMove& move, int level) = 0;
};

struct ConnectSearchOptions {
  ConnectSearch search = ConnectSearch::kEdges;
  int levels = 1;      // edges are apart (0) or connected at 1 to `levels`
  int most_nodes = 8;  // on paths that are connected together
  // How often paths are followed on from where they meet; greedily once.
  int meetings = 1;
  // Whether ways along paths are tried without their first node too.
  bool may_leave_first = false;
  // Nodes that are left out again of one way, each for itself, at most.
  int most_detached = 2;
};

// `edges` ascending; those of `connected` stay as they are. What it decides is
// what the judge hears in Connect; every edge is decided about once, so that it
// ends.
void SearchConnections(absl::Span<const ConnectEdge> edges,
                       absl::Span<const ConnectEdge> connected,
                       const ConnectSearchOptions& options,
                       ConnectJudge& judge);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_FUSE_CONNECT_SEARCH_H_
