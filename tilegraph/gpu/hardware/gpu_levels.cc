#include "tilegraph/gpu/hardware/gpu_levels.h"

#include <algorithm>


namespace tilewright {

std::optional<GpuLevels> GpuLevelsOf(const DeviceSpec& spec) {
  GpuLevels levels;
  levels.memory = levels.reuse = levels.near = &spec.levels(0);
  levels.registers = &*spec.levels().rbegin();
  for (const MemoryLevel& level : spec.levels()) {
    if (level.kind() == MemoryLevel::SCRATCHPAD &&
        level.scope() == MemoryLevel::CORE) {
      levels.scratchpad = &level;
      break;
    }
    if (&level == levels.memory) continue;
    if (!levels.shares()) levels.reuse = &level;
    levels.near = &level;
  }
  if (levels.scratchpad == nullptr || spec.unit().warp_size() < 1 ||
      spec.unit().max_threads_per_block() < 1)
    return std::nullopt;
  if (levels.shares())
    levels.kept_bytes =
        spec.cost_model().kept_shared_share() *
        static_cast<double>(levels.reuse->capacity_bytes()) *
        static_cast<double>(std::max<int64_t>(1, levels.reuse->instances()));
  return levels;
}

Banks BanksOf(const GpuLevels& levels) {
  return {std::max<int64_t>(1, levels.scratchpad->banks()),
          std::max<int64_t>(1, levels.scratchpad->bank_width_bytes())};
}

const MemoryLevel& LevelBetweenKernels(const TensorGraph& graph, TensorId id,
                                       const GpuLevels& levels) {
  const Tensor& tensor = graph.tensor(id);
  const bool given_or_given_back =
      tensor.kind != TensorKind::kCompute ||
      std::count(graph.outputs().begin(), graph.outputs().end(), id) > 0;
  const auto bytes = static_cast<double>(tensor.num_bytes());
  return given_or_given_back || bytes > levels.kept_bytes ? *levels.memory
                                                          : *levels.reuse;
}

}  // namespace tilewright
