#include "tilegraph/traffic/tile_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"

namespace tilewright {
namespace {

bool Holds(const std::vector<TensorId>& sorted, TensorId id) {
  return std::binary_search(sorted.begin(), sorted.end(), id);
}

}  // namespace

TileGraph::TileGraph(const TensorGraph& graph, std::vector<TensorId> members)
    : graph_(&graph), members_(std::move(members)) {
  TW_CHECK(std::is_sorted(members_.begin(), members_.end()));
  for (const TensorId member : members_)
    TW_CHECK(graph.tensor(member).kind == TensorKind::kCompute);
}

Subgraph TileGraph::SubgraphOf(std::vector<TensorId> members) const {
  Subgraph part;
  std::set<TensorId> inputs;
  const absl::Span<const TensorId> outputs = graph_->outputs();
  for (const TensorId member : members) {
    for (const TensorId input : graph_->Inputs(member)) {
      if (!Holds(members, input)) inputs.insert(input);
    }
    const std::vector<TensorId>& readers = graph_->Consumers()[member];
    const bool leaves =
        std::find(outputs.begin(), outputs.end(), member) != outputs.end();
    if (leaves || readers.empty() ||
        std::any_of(readers.begin(), readers.end(),
                    [&](TensorId reader) { return !Holds(members, reader); }))
      part.outputs.push_back(member);
  }
  part.inputs.assign(inputs.begin(), inputs.end());
  part.members = std::move(members);
  return part;
}

}  // namespace tilewright
