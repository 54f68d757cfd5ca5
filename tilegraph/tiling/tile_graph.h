// The tile-graph (Welder, OSDI 2023, section 3.1): operators of one connected
// part of a model as nodes, and for every edge the memory level in which a tile
// passes from producer to consumer.
//
// Levels are those of a DeviceSpec, 0 the outermost. An edge at level 0 goes
// through device memory and separates kernels; an edge at level l keeps a tile
// in an instance of level l, so that what it joins shares its tiles of level l.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_TILE_GRAPH_H_
#define TILEWRIGHT_TILEGRAPH_TILING_TILE_GRAPH_H_

#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/tensor_graph.h"

namespace tilewright {

struct TileEdge {
  TensorId producer, consumer;
  friend bool operator<(const TileEdge& a, const TileEdge& b) {
    return std::pair(a.producer, a.consumer) <
           std::pair(b.producer, b.consumer);
  }
};

// Computes that work on common tiles.
struct Subgraph {
  std::vector<TensorId> members;  // ascending
  // What members load and is none, ascending; constants too.
  std::vector<TensorId> inputs;
  // Members that others read or that leave the graph, ascending.
  std::vector<TensorId> outputs;
};

class TileGraph {
 public:
  // `graph` must outlive it. REQUIRES: `members` are computes, ascending.
  TileGraph(const TensorGraph& graph, std::vector<TensorId> members);

  const TensorGraph& graph() const { return *graph_; }
  absl::Span<const TensorId> members() const { return members_; }
  // In the order of their producers, then of their consumers: topological.
  const std::map<TileEdge, int>& edges() const { return levels_; }

  // REQUIRES: the edge exists.
  void SetConnect(const TileEdge& edge, int level);
  int ConnectLevel(const TileEdge& edge) const { return levels_.at(edge); }

  // What stays together above `level`: members joined by edges of higher
  // levels, as far as possible, in an order in which they can run.
  // FailedPrecondition if some of them wait for each other.
  absl::StatusOr<std::vector<Subgraph>> Parts(int level) const;
  // The same of some members, ascending, that stay together further out.
  absl::StatusOr<std::vector<Subgraph>> PartsOf(
      const std::vector<TensorId>& members, int level) const;
  Subgraph SubgraphOf(std::vector<TensorId> members) const;

 private:
  const TensorGraph* graph_;
  std::vector<TensorId> members_;
  std::vector<std::vector<TensorId>> consumers_;      // in the whole graph
  std::map<TensorId, std::vector<TensorId>> inputs_;  // of members
  std::map<TileEdge, int> levels_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_TILE_GRAPH_H_
