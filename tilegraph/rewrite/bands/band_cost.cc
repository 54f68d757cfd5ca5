#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/ir/arena.h"
#include "tilegraph/rewrite/bands/band_boxes.h"
#include "tilegraph/rewrite/bands/bands.h"

namespace tilewright {
namespace {

// In whose memory the tensors of a part lie: paddings and other moves in that
// of what they read, parts of a concatenation in that of the whole. As plans
// have it (plan_draft.h, ChooseViews).
std::map<TensorId, TensorId> HoldersOf(const TensorGraph& graph,
                                       const BandedPart& part) {
  std::map<TensorId, TensorId> holders;
  const auto holder = [&](TensorId id) {
    for (auto at = holders.find(id); at != holders.end(); at = holders.find(id))
      id = at->second;
    return id;
  };
  for (const TensorId member : part.members) {
    TensorId source = -1;
    if (const std::optional<ZeroPadding> padding = AsZeroPadding(graph, member))
      source = padding->source;
    if (const std::optional<Move> move = AsMove(graph, member))
      source = move->source;
    if (source >= 0 && graph.tensor(source).kind != TensorKind::kConstant)
      holders[member] = source;
    const std::optional<Concatenation> whole = AsConcatenation(graph, member);
    if (!whole) continue;
    for (const Concatenation::Part& one : whole->parts) {
      const TensorId held = holder(one.source);
      if (held == one.source && held != member &&
          graph.tensor(held).kind != TensorKind::kConstant)
        holders[held] = member;
    }
  }
  std::map<TensorId, TensorId> resolved;
  for (const auto& [id, next] : holders) resolved[id] = holder(next);
  return resolved;
}

}  // namespace

absl::StatusOr<BandedCost> CostOfBands(const TensorGraph& graph,
                                       const BandedPart& part) {
  TW_RETURN_IF_ERROR(CheckPart(graph, part, graph.Consumers()));
  const std::set<TensorId> members(part.members.begin(), part.members.end());
  const TensorId output = part.members.back();
  const std::map<TensorId, TensorId> holders = HoldersOf(graph, part);
  const int end = static_cast<int>(part.members.size());
  // By tensor: the member, by position, that makes it and the last to read it.
  std::map<TensorId, std::pair<int, int>> used;
  for (int i = 0; i < end; ++i) {
    used[part.members[i]] = {i, part.members[i] == output ? end : i};
    for (const TensorId input : graph.Inputs(part.members[i]))
      used.insert({input, {0, i}}).first->second.second = i;
  }
  BandedCost cost;
  const int64_t rows = graph.tensor(output).shape[part.dim].value();
  for (int64_t row = 0; row < rows; row += part.rows) {
    TW_ASSIGN_OR_RETURN(const auto boxes, BoxesOf(graph, part, row));
    std::map<TensorId, BufferLifetime> alive;
    for (const auto& [id, box] : boxes) {
      const Tensor& tensor = graph.tensor(id);
      const int64_t bytes = box.elements() * SizeBytes(tensor.dtype);
      const bool member = members.count(id) > 0;
      if (member) cost.points += static_cast<double>(box.elements());
      if (!member && tensor.kind == TensorKind::kConstant) {
        if (row == 0) cost.constant_bytes += tensor.num_bytes();
        continue;
      }
      if (!member || id == output) cost.moved_bytes += bytes;
      const auto [first, last] = used.at(id);
      const auto held = holders.find(id);
      const auto [at, added] = alive.insert(
          {held == holders.end() ? id : held->second, {bytes, first, last}});
      if (added) continue;
      BufferLifetime& buffer = at->second;
      buffer = {std::max(buffer.size_bytes, bytes),
                std::min(buffer.first, first), std::max(buffer.last, last)};
    }
    std::vector<BufferLifetime> lifetimes;
    for (const auto& [id, buffer] : alive) lifetimes.push_back(buffer);
    cost.band_bytes =
        std::max(cost.band_bytes, PlaceBuffers(lifetimes).arena_bytes);
  }
  return cost;
}

}  // namespace tilewright
