// Computes of a graph that share kernels, and the parts of it that a kernel
// computes: what these read and write.
#ifndef TILEWRIGHT_TILEGRAPH_TRAFFIC_TILE_GRAPH_H_
#define TILEWRIGHT_TILEGRAPH_TRAFFIC_TILE_GRAPH_H_

#include <vector>

#include "absl/types/span.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Computes that work on common tiles.
struct Subgraph {
  std::vector<TensorId> members;  // ascending
  // Tensors that members load and that are none, ascending; constants too.
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
  Subgraph SubgraphOf(std::vector<TensorId> members) const;

 private:
  const TensorGraph* graph_;
  std::vector<TensorId> members_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TRAFFIC_TILE_GRAPH_H_
