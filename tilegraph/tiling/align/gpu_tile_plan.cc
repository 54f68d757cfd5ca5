#include "tilegraph/tiling/align/gpu_tile_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
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
  return out + PlaceText(plan, cluster) + "\n";
}

std::string SharedText(const TensorGraph& graph, const SharedOperand& operand) {
  std::string out =
      absl::StrCat("  shared ", graph.tensor(operand.tensor).name, " [",
                   absl::StrJoin(operand.extents, ", "), "]");
  if (operand.copies > 1) absl::StrAppend(&out, " x", operand.copies);
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

std::string BoundOf(const GpuCost& cost) {
  const double most = std::max({cost.compute_seconds, cost.shared_seconds,
                                cost.l2_seconds, cost.dram_seconds});
  if (most == cost.compute_seconds) return "compute";
  if (most == cost.shared_seconds) return "shared";
  return most == cost.l2_seconds ? "l2" : "dram";
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
  absl::StrAppendFormat(
      &out,
      "  %.1f us, bound by %s: compute %.1f, shared %.1f, l2 %.1f (%.2f MB), "
      "dram %.1f (%.2f MB)\n",
      plan.cost.seconds * 1e6, BoundOf(plan.cost),
      plan.cost.compute_seconds * 1e6, plan.cost.shared_seconds * 1e6,
      plan.cost.l2_seconds * 1e6, plan.cost.l2_bytes * 1e-6,
      plan.cost.dram_seconds * 1e6, plan.cost.dram_bytes * 1e-6);
  return out;
}

}  // namespace tilewright
