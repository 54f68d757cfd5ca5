// GraphConnecting for computes: for every edge of a tile-graph the memory level
// at which joining its two ends costs the least (connect_search.h).
#ifndef TILEWRIGHT_TILEGRAPH_TILING_GRAPH_CONNECTING_H_
#define TILEWRIGHT_TILEGRAPH_TILING_GRAPH_CONNECTING_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/tiling/connect_search.h"
#include "tilegraph/tiling/subgraph_tiling.h"
#include "tilegraph/tiling/tile_graph.h"

namespace tilewright {

// What a level would have made of an edge.
struct ConnectChoice {
  int level = 1;
  int edges = 1;     // joined at the same time: this one, or all of its paths
  int detached = 0;  // taken apart for that, which had been joined
  // Of the parts at the ends of those edges, as they were and joined. Infinite
  // if it cannot be.
  double apart_seconds = 0, seconds = 0;
  std::string why_not;  // for people; empty if it can
};

struct ConnectDecision {
  TileEdge edge;
  std::vector<ConnectChoice> choices;  // fewest edges first, levels ascending
  int level = 0;                       // the one taken
};

// The kernels of a graph.
struct ConnectedPlan {
  std::vector<TilePlan> parts;  // in an order in which they can run
  std::vector<PlanCost> costs;
  std::vector<ConnectDecision> decisions;  // in the order they were made

  double seconds() const;
};

struct ConnectOptions {
  ConnectSearch search = ConnectSearch::kEdges;
  TilingOptions tiling;
  // An edge is joined only if that saves this share of the time: estimates are
  // rough.
  double least_gain = 0.02;
  // Computes in one part.
  int most_members = 16;
  // Seconds of a plan as measured; the best of `tiling.best` candidates counts.
  // Empty: the model's. An error: the candidate is out.
  std::function<absl::StatusOr<double>(const TilePlan&)> profile;
};

// Leaves the levels chosen in `graph`. Edges that are connected already stay as
// they are. Errors as of TileSubgraph for
// single computes.
absl::StatusOr<ConnectedPlan> ConnectGraph(TileGraph& graph,
                                           const DeviceSpec& spec,
                                           const ConnectOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_GRAPH_CONNECTING_H_
