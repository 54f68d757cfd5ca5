#include "tilegraph/tiling/tile_graph.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace tilewright {
namespace {

bool Holds(const std::vector<TensorId>& sorted, TensorId id) {
  return std::binary_search(sorted.begin(), sorted.end(), id);
}

}  // namespace

TileGraph::TileGraph(const TensorGraph& graph, std::vector<TensorId> members)
    : graph_(&graph),
      members_(std::move(members)),
      consumers_(graph.Consumers()) {
  TW_CHECK(std::is_sorted(members_.begin(), members_.end()));
  for (const TensorId member : members_) {
    TW_CHECK(graph.tensor(member).kind == TensorKind::kCompute);
    inputs_[member] = graph.Inputs(member);
    for (const TensorId consumer : consumers_[member]) {
      if (Holds(members_, consumer)) levels_[{member, consumer}] = 0;
    }
  }
}

void TileGraph::SetConnect(const TileEdge& edge, int level) {
  TW_CHECK_GE(level, 0);
  levels_.at(edge) = level;
}

absl::StatusOr<std::vector<Subgraph>> TileGraph::Parts(int level) const {
  return PartsOf(members_, level);
}

absl::StatusOr<std::vector<Subgraph>> TileGraph::PartsOf(
    const std::vector<TensorId>& members, int level) const {
  std::vector<std::pair<TileEdge, int>> edges;
  for (const TensorId member : members) {
    for (const TensorId consumer : consumers_[member]) {
      if (Holds(members, consumer))
        edges.emplace_back(TileEdge{member, consumer},
                           levels_.at({member, consumer}));
    }
  }
  // Union-find; a root is the smallest of its members.
  std::map<TensorId, TensorId> parent;
  for (const TensorId member : members) parent[member] = member;
  const auto root = [&](TensorId id) {
    while (parent[id] != id) id = parent[id] = parent[parent[id]];
    return id;
  };
  for (const auto& [edge, connected] : edges) {
    if (connected <= level) continue;
    const TensorId a = root(edge.producer), b = root(edge.consumer);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::map<TensorId, std::vector<TensorId>> by_root;
  std::map<TensorId, std::set<TensorId>> waits_for, followers;  // roots
  for (const TensorId member : members) by_root[root(member)].push_back(member);
  for (const auto& [edge, connected] : edges) {
    const TensorId from = root(edge.producer), to = root(edge.consumer);
    if (from == to) continue;
    waits_for[to].insert(from);
    followers[from].insert(to);
  }
  std::vector<Subgraph> parts;
  std::set<TensorId> ready;
  for (const auto& [first, joined] : by_root) {
    if (waits_for[first].empty()) ready.insert(first);
  }
  while (!ready.empty()) {
    const TensorId next = *ready.begin();
    ready.erase(ready.begin());
    parts.push_back(SubgraphOf(by_root.at(next)));
    for (const TensorId follower : followers[next]) {
      waits_for[follower].erase(next);
      if (waits_for[follower].empty()) ready.insert(follower);
    }
  }
  if (parts.size() < by_root.size())
    return absl::FailedPreconditionError(
        "parts of the tile-graph wait for each other");
  return parts;
}

Subgraph TileGraph::SubgraphOf(std::vector<TensorId> members) const {
  Subgraph part;
  std::set<TensorId> inputs;
  const absl::Span<const TensorId> outputs = graph_->outputs();
  for (const TensorId member : members) {
    for (const TensorId input : inputs_.at(member)) {
      if (!Holds(members, input)) inputs.insert(input);
    }
    const std::vector<TensorId>& readers = consumers_[member];
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
