#include "tilegraph/gpu/gpu_traits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"

namespace tilewright {
namespace {

const char* RoleOf(const MemoryLevel* level, const GpuLevels& levels) {
  if (level == levels.registers) return "registers";
  if (level == levels.scratchpad) return "scratchpad";
  return level == levels.memory ? "memory" : "on chip";
}

int PlaceOf(const DeviceSpec& spec, const MemoryLevel* level) {
  for (int i = 0; i < spec.levels_size(); ++i)
    if (&spec.levels(i) == level) return i;
  TW_CHECK(false);
  return 0;
}

void CopyRates(const MemoryLevel& from, MemoryLevel& to) {
  to.set_read_bytes_per_s(from.read_bytes_per_s());
  to.set_write_bytes_per_s(from.write_bytes_per_s());
  to.set_aggregate_read_bytes_per_s(from.aggregate_read_bytes_per_s());
  to.set_aggregate_write_bytes_per_s(from.aggregate_write_bytes_per_s());
  to.set_latency_ns(from.latency_ns());
}

// Copies the levels between the memory and the scratchpad.
void CopyOnChip(const DeviceSpec& from, DeviceSpec& to) {
  const int end = PlaceOf(from, GpuLevelsOf(from)->scratchpad);
  std::vector<MemoryLevel> levels = {to.levels(0)};
  for (int i = 1; i < end; ++i) levels.push_back(from.levels(i));
  for (int i = PlaceOf(to, GpuLevelsOf(to)->scratchpad); i < to.levels_size();
       ++i)
    levels.push_back(to.levels(i));
  to.clear_levels();
  for (MemoryLevel& level : levels) *to.add_levels() = std::move(level);
  *to.mutable_cost_model() = from.cost_model();
}

void Copy(GpuTrait trait, const DeviceSpec& from, DeviceSpec& to) {
  const ComputeUnit& unit = from.unit();
  ComputeUnit& other = *to.mutable_unit();
  switch (trait) {
    case GpuTrait::kCores:
      other.set_cores(unit.cores());
      other.set_threads_per_core(unit.threads_per_core());
      other.set_warp_size(unit.warp_size());
      other.set_max_threads_per_block(unit.max_threads_per_block());
      other.set_max_threads_per_core(unit.max_threads_per_core());
      other.set_max_blocks_per_core(unit.max_blocks_per_core());
      other.set_schedulers_per_core(unit.schedulers_per_core());
      return;
    case GpuTrait::kScratchpad:
      other.set_scratchpad_bytes_per_block(unit.scratchpad_bytes_per_block());
      other.set_scratchpad_bytes_per_core(unit.scratchpad_bytes_per_core());
      other.set_scratchpad_allocation_bytes(unit.scratchpad_allocation_bytes());
      other.set_scratchpad_reserved_bytes(unit.scratchpad_reserved_bytes());
      return;
    case GpuTrait::kScratchpadBandwidth:
      CopyRates(*GpuLevelsOf(from)->scratchpad,
                *to.mutable_levels(PlaceOf(to, GpuLevelsOf(to)->scratchpad)));
      return;
    case GpuTrait::kRegisters:
      other.set_registers_per_thread(unit.registers_per_thread());
      other.set_registers_per_block(unit.registers_per_block());
      other.set_registers_per_core(unit.registers_per_core());
      other.set_register_allocation_unit(unit.register_allocation_unit());
      return;
    case GpuTrait::kPeaks:
      *other.mutable_peaks() = unit.peaks();
      *other.mutable_matrix_units() = unit.matrix_units();
      return;
    case GpuTrait::kOnChip:
      CopyOnChip(from, to);
      return;
    case GpuTrait::kMemory:
      CopyRates(from.levels(0), *to.mutable_levels(0));
      return;
    case GpuTrait::kLaunch:
      other.set_launch_ns(unit.launch_ns());
      other.set_barrier_ns(unit.barrier_ns());
      return;
  }
}

}  // namespace

std::string LevelsText(const TensorGraph& graph, const GpuPlan& plan) {
  std::vector<std::string> edges;
  for (const GpuKernel& kernel : plan.kernels) {
    if (kernel.tiles.empty()) {
      edges.push_back("(a kernel that does not fit)");
      continue;
    }
    const GpuTilePlan& tiles = kernel.tiles.front();
    for (const LevelOfEdge& edge : LevelsOfEdges(graph, tiles))
      edges.push_back(absl::StrCat(graph.tensor(edge.tensor).name, "->",
                                   graph.tensor(edge.reader).name, " ",
                                   RoleOf(edge.level, tiles.levels)));
  }
  std::sort(edges.begin(), edges.end());
  return absl::StrJoin(edges, ", ");
}

std::vector<GpuTrait> AllGpuTraits() {
  return {GpuTrait::kScratchpad,
          GpuTrait::kRegisters,
          GpuTrait::kPeaks,
          GpuTrait::kOnChip,
          GpuTrait::kMemory,
          GpuTrait::kLaunch,
          GpuTrait::kScratchpadBandwidth,
          GpuTrait::kCores};
}

std::string Name(GpuTrait trait) {
  switch (trait) {
    case GpuTrait::kCores:
      return "cores";
    case GpuTrait::kScratchpad:
      return "scratchpad size";
    case GpuTrait::kScratchpadBandwidth:
      return "scratchpad bandwidth";
    case GpuTrait::kRegisters:
      return "registers";
    case GpuTrait::kPeaks:
      return "peaks";
    case GpuTrait::kOnChip:
      return "on-chip level";
    case GpuTrait::kMemory:
      return "memory bandwidth";
    case GpuTrait::kLaunch:
      return "launch time";
  }
  return "";
}

DeviceSpec WithTraits(DeviceSpec spec, const DeviceSpec& other,
                      const std::vector<GpuTrait>& traits) {
  for (const GpuTrait trait : traits) Copy(trait, other, spec);
  return spec;
}

}  // namespace tilewright
