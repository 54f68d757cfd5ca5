#include "tilegraph/gpu/gpu_tile_plan.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/ceil_div.h"
#include "base/string_view.h"

namespace tilewright {
namespace {

// Where a block's tile of the cluster is, if not where its output is.
std::string PlaceText(const GpuTilePlan& plan, const GpuCluster& cluster) {
  const size_t root = static_cast<size_t>(cluster.root);
  if (root >= plan.remaps.size()) return "";
  if (!plan.remaps[root]) return ", overlapping";
  BlockRemap own;
  for (size_t d = 0; d < plan.grid.size(); ++d)
    own.dims.push_back({plan.grid[d] > 1 ? static_cast<int>(d) : -1, 1});
  const std::string place = ToString(*plan.remaps[root]);
  return place == ToString(own) ? "" : absl::StrCat(", tile ", place);
}

std::string ClusterText(const TensorGraph& graph, const GpuTilePlan& plan,
                        size_t c) {
  const GpuCluster& cluster = plan.members.clusters[c];
  const ClusterTile& tile = plan.clusters[c];
  std::string out = absl::StrCat(
      "  ", absl::StrJoin(cluster.members, " ", [&](std::string* text, int m) {
        text->append(graph.tensor(plan.members.members[m].id).name);
      }));
  if (tile.matrix) {
    const MatrixForm& form = *tile.matrix;
    absl::StrAppend(&out, ": ", form.unit->name(),
                    form.swapped ? " turned" : "", ", ", form.groups_m, "x",
                    form.groups_n, " ", form.unit->scope(), "s of ",
                    form.fragments_m, "x", form.fragments_n, " fragments");
    return out + "\n";
  }
  absl::StrAppend(&out, ": threads [", absl::StrJoin(tile.simt.threads, ", "),
                  "], each [", absl::StrJoin(tile.simt.elements, ", "), "]");
  if (tile.simt.vector > 1)
    absl::StrAppend(&out, ", vectors of ", tile.simt.vector);
  if (tile.simt.reduce_threads > 1)
    absl::StrAppend(&out, ", ", tile.simt.reduce_threads, " share a sum");
  if (tile.simt.slices > 1)
    absl::StrAppend(&out, ", ", tile.simt.slices, " slices of a step");
  return out + PlaceText(plan, cluster) + "\n";
}

std::string SharedText(const TensorGraph& graph, const SharedOperand& operand) {
  std::string out =
      absl::StrCat("  shared ", graph.tensor(operand.tensor).name, " [",
                   absl::StrJoin(operand.extents, ", "), "]");
  if (operand.copies > 1) absl::StrAppend(&out, " x", operand.copies);
  if (operand.slices > 1)
    absl::StrAppend(&out, ", sums of ", operand.slices, " slices,");
  absl::StrAppend(&out, " at ", operand.offset_bytes);
  const BankLayout& layout = operand.layout;
  if (layout.pad_elements > 0)
    absl::StrAppend(&out, ", rows padded by ", layout.pad_elements);
  if (layout.swizzled())
    absl::StrAppend(&out, ", chunks of ", layout.chunk_elements, " xor row/",
                    layout.rows_per_step, "%", layout.steps);
  if (operand.conflicts > 1)
    absl::StrAppendFormat(&out, ", %.1f turns", operand.conflicts);
  return out + "\n";
}

}  // namespace

int64_t GpuTilePlan::blocks() const {
  int64_t product = 1;
  for (const int64_t g : grid) product *= g;
  return product;
}

int64_t GpuTilePlan::blocks_beside(int64_t cores) const {
  return std::min(occupancy.blocks_per_core, CeilDiv(blocks(), cores));
}

GpuLimit LimitOf(const GpuTilePlan& plan) {
  using Kind = GpuLimit::Kind;
  const GpuCost& cost = plan.cost;
  const auto of_level = [](double seconds, double bytes,
                           const MemoryLevel& level) {
    const double rate = level.aggregate_read_bytes_per_s();
    return GpuLimit{Kind::kBandwidth, level.name(), seconds,
                    rate > 0 && seconds > 0 ? bytes / rate / seconds : 1};
  };
  const GpuLimit rates[] = {
      {Kind::kPeak, "peak", cost.compute_seconds,
       cost.compute_seconds > 0
           ? cost.busy_compute_seconds / cost.compute_seconds
           : 1},
      of_level(cost.shared_seconds, cost.shared_bytes, *plan.levels.scratchpad),
      of_level(cost.near_seconds, cost.near_bytes, *plan.levels.near),
      of_level(cost.memory_seconds, cost.memory_bytes, *plan.levels.memory)};
  GpuLimit limit = *std::max_element(std::begin(rates), std::end(rates),
                                     [](const GpuLimit& a, const GpuLimit& b) {
                                       return a.seconds < b.seconds;
                                     });
  const double fixed = cost.seconds - cost.work_seconds;
  if (fixed > limit.seconds) return {Kind::kLaunch, "launch", fixed, 1};
  if (limit.reached < 0.5) {
    limit.kind = Kind::kOccupancy;
    limit.name = plan.blocks() < cost.blocks_at_once
                     ? "grid"
                     : std::string(Name(plan.occupancy.limit));
  }
  return limit;
}

std::string ShortText(const GpuLimit& limit) {
  switch (limit.kind) {
    case GpuLimit::Kind::kLaunch:
      return "launch and waits";
    case GpuLimit::Kind::kOccupancy:
      return absl::StrCat("occupancy by ", limit.name);
    case GpuLimit::Kind::kPeak:
      return "peak";
    case GpuLimit::Kind::kBandwidth:
      return absl::StrCat(limit.name, " bandwidth");
  }
  return "";
}

std::string ToString(const GpuTilePlan& plan, const GpuLimit& limit) {
  std::string text =
      absl::StrFormat("%s (%.1f of %.1f us", ShortText(limit),
                      limit.seconds * 1e6, plan.cost.seconds * 1e6);
  if (limit.kind != GpuLimit::Kind::kLaunch)
    absl::StrAppendFormat(&text, ", at %.0f %%", 100 * limit.reached);
  if (limit.kind == GpuLimit::Kind::kOccupancy)
    absl::StrAppend(&text, ", ", plan.blocks(), " blocks, ",
                    plan.occupancy.blocks_per_core, " resident on a core");
  return text + ")";
}

std::vector<LevelOfEdge> LevelsOfEdges(const TensorGraph& graph,
                                       const GpuTilePlan& plan) {
  std::vector<LevelOfEdge> edges;
  for (const GpuMember& member : plan.members.members) {
    std::set<TensorId> read;
    for (const GpuLoad& load : member.loads) {
      if (graph.tensor(load.tensor).kind != TensorKind::kCompute ||
          !read.insert(load.tensor).second)
        continue;
      const bool inside = std::binary_search(
          plan.part.members.begin(), plan.part.members.end(), load.tensor);
      edges.push_back(
          {load.tensor, member.id,
           !inside       ? &LevelBetweenKernels(graph, load.tensor, plan.levels)
           : load.shared ? plan.levels.scratchpad
                         : plan.levels.registers});
    }
  }
  return edges;
}

std::string ToString(const TensorGraph& graph, const GpuTilePlan& plan) {
  std::string out = absl::StrCat(
      "tile [", absl::StrJoin(plan.tile, ", "), "]",
      plan.step > 0 ? absl::StrCat(" step ", plan.step) : "", ", grid [",
      absl::StrJoin(plan.grid, ", "), "] of ", plan.threads, " threads");
  if (plan.order.panel > 0)
    absl::StrAppend(&out, ", order [", absl::StrJoin(plan.order.dims, ", "),
                    "] in panels of ", plan.order.panel);
  out += "\n";
  for (size_t c = 0; c < plan.clusters.size(); ++c)
    out += ClusterText(graph, plan, c);
  for (const SharedOperand& operand : plan.shared)
    out += SharedText(graph, operand);
  for (size_t i = 0; i + 1 < plan.part.outputs.size(); ++i)
    absl::StrAppend(&out, "  writes ", graph.tensor(plan.part.outputs[i]).name,
                    " too\n");
  absl::StrAppend(&out, "  ", plan.shared_bytes, " bytes shared, about ",
                  plan.registers_per_thread, " registers, ",
                  plan.occupancy.blocks_per_core, " blocks a core (",
                  ToAbsl(Name(plan.occupancy.limit)), "), ", plan.cost.waves,
                  plan.cost.waves == 1 ? " wave\n" : " waves\n");
  for (const GpuDifference& difference : plan.differences)
    absl::StrAppend(&out, "  generated: ", ToString(graph, difference), "\n");
  absl::StrAppendFormat(
      &out, "  %.1f us: compute %.1f, %s %.1f", plan.cost.seconds * 1e6,
      plan.cost.compute_seconds * 1e6, plan.levels.scratchpad->name(),
      plan.cost.shared_seconds * 1e6);
  if (plan.levels.shares())
    absl::StrAppendFormat(&out, ", %s %.1f (%.2f MB)", plan.levels.near->name(),
                          plan.cost.near_seconds * 1e6,
                          plan.cost.near_bytes * 1e-6);
  absl::StrAppendFormat(&out, ", %s %.1f (%.2f MB)", plan.levels.memory->name(),
                        plan.cost.memory_seconds * 1e6,
                        plan.cost.memory_bytes * 1e-6);
  absl::StrAppend(&out, "; limited by ", ToString(plan, LimitOf(plan)), "\n");
  return out;
}

}  // namespace tilewright
