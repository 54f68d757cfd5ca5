#include "tilegraph/gpu/block_remap.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/ceil_div.h"
#include "tilegraph/traffic/tile_regions.h"

namespace tilewright {
namespace {

absl::Status NoRemap(const Tensor& tensor, const char* why) {
  return absl::FailedPreconditionError(
      absl::StrCat("tiles of '", tensor.name, "' ", why));
}

}  // namespace

absl::StatusOr<BlockRemap> RemapOf(const TensorGraph& graph,
                                   const Subgraph& part,
                                   const std::vector<int64_t>& tile,
                                   TensorId member) {
  const auto found =
      std::lower_bound(part.members.begin(), part.members.end(), member);
  if (found == part.members.end() || *found != member)
    return absl::InvalidArgumentError(
        absl::StrCat("tensor ", member, " is no member of the part"));
  const std::vector<int64_t> whole =
      graph.tensor(part.outputs.back()).static_shape();
  TileBox box(whole.size());
  std::vector<int64_t> trips;
  for (size_t d = 0; d < whole.size(); ++d) {
    trips.push_back(CeilDiv(whole[d], tile[d]));
    box[d].extent = tile[d];
    box[d].moves.assign(whole.size(), 0);
    box[d].moves[d] = trips[d] > 1 ? tile[d] : 0;
  }
  TileRegions regions(graph, part);
  std::vector<TileNeed> needs;
  regions.Of(box, trips, {}, needs);
  const TileNeed& need =
      needs[part.inputs.size() + (found - part.members.begin())];
  const Tensor& tensor = graph.tensor(member);
  const std::vector<int64_t> shape = tensor.static_shape();
  if (need.box.size() != shape.size()) return NoRemap(tensor, "are empty");
  BlockRemap remap;
  remap.partitions = need.conditions.empty();
  std::set<int> used;
  for (size_t i = 0; i < need.box.size(); ++i) {
    const TileSpan& span = need.box[i];
    if (!span.others.empty()) return NoRemap(tensor, "move in no affine way");
    const int64_t extent = std::min(span.extent, shape[i]);
    if (extent <= 0) return NoRemap(tensor, "are empty");
    BlockRemap::Dim dim;
    for (size_t d = 0; d < span.moves.size(); ++d) {
      if (span.moves[d] == 0 || trips[d] == 1) continue;
      if (dim.grid_dim >= 0)
        return NoRemap(tensor, "move with two indices of the grid at once");
      dim.grid_dim = static_cast<int>(d);
      remap.partitions &=
          span.moves[d] == extent && used.insert(dim.grid_dim).second;
      if (span.moves[d] < 0 || span.moves[d] % extent != 0) {
        // Halos: neighbours overlap, and a tile's index means nothing.
        if (span.moves[d] < 0 || span.moves[d] > extent)
          return NoRemap(tensor, "leave gaps");
        dim.blocks = 1;
        continue;
      }
      dim.blocks = span.moves[d] / extent;
    }
    if (span.constant != 0) return NoRemap(tensor, "are shifted");
    remap.partitions &=
        span.step == 1 &&
        (dim.grid_dim >= 0
             ? dim.blocks == 1 && trips[dim.grid_dim] * extent >= shape[i]
             : extent == shape[i]);
    remap.dims.push_back(dim);
    remap.tile.push_back(extent);
  }
  return remap;
}

std::string ToString(const BlockRemap& remap) {
  return absl::StrCat(
      "[",
      absl::StrJoin(remap.dims, ", ",
                    [](std::string* out, const BlockRemap::Dim& dim) {
                      if (dim.grid_dim < 0) {
                        out->append("0");
                        return;
                      }
                      absl::StrAppend(out, "b", dim.grid_dim);
                      if (dim.blocks > 1) absl::StrAppend(out, "*", dim.blocks);
                    }),
      "]");
}

}  // namespace tilewright
