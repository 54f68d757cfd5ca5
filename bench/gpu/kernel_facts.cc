#include "bench/gpu/kernel_facts.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "bench/gpu/block_work.h"
#include "compiler/connect_gpu.h"
#include "compiler/kernels/group_workload.h"
#include "compiler/kernels/kernel_maker.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/gpu/hardware/occupancy.h"
#include "tilegraph/gpu/hardware/warp_access.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {
namespace {

// What the kernel is given and gives, each once.
void AddUsefulBytes(const CompiledModel& model, const GroupWorkload& group,
                    const GpuLevels& levels, KernelFacts& facts) {
  const TensorGraph& graph = group.workload.graph;
  std::set<TensorId> boundary(graph.outputs().begin(), graph.outputs().end());
  for (const Tensor& tensor : graph.tensors())
    if (tensor.kind != TensorKind::kCompute) boundary.insert(tensor.id);
  for (const TensorId id : boundary) {
    const Tensor& tensor = graph.tensor(id);
    const auto bytes = static_cast<double>(tensor.num_bytes());
    facts.useful_near_bytes += bytes;
    if (&LevelBetweenKernels(model.graph,
                             group.model_tensor[static_cast<size_t>(id)],
                             levels) == levels.memory)
      facts.useful_memory_bytes += bytes;
  }
}

}  // namespace

const GpuTilePlan* TilesOfKernel(const CompiledModel& model, int kernel) {
  for (size_t g = 0; model.gpu && g < model.kernel_of_group.size(); ++g) {
    if (model.kernel_of_group[g] != kernel) continue;
    const GpuTilePlan* plan = TilesOf(*model.gpu, model.plan.groups[g]);
    if (plan != nullptr) return plan;
  }
  return nullptr;
}

KernelFacts FactsOf(const CompiledModel& model, int kernel,
                    const DeviceSpec& spec, const InstructionMix& hot) {
  const CompiledKernel& compiled = model.kernels[static_cast<size_t>(kernel)];
  const GpuLevels levels = *GpuLevelsOf(spec);
  KernelFacts facts;
  facts.blocks = compiled.scalar.num_tasks;
  facts.resident = std::max<int64_t>(
      1, OccupancyOf(spec.unit(),
                     {compiled.scalar.threads, *compiled.report.registers,
                      compiled.scalar.scratch_bytes})
             .blocks_per_core);
  facts.work = CountBlockWork(compiled.scalar, BanksOf(levels),
                              levels.near->read_transaction_bytes());
  facts.fma_share = hot.fma_share();
  facts.useful_operations =
      static_cast<double>(CountFlops(compiled.workload.workload.graph));
  AddUsefulBytes(model, compiled.workload, levels, facts);
  facts.memory_bytes = facts.useful_memory_bytes;
  facts.near_bytes = facts.useful_near_bytes;
  if (const GpuTilePlan* plan = TilesOfKernel(model, kernel)) {
    facts.memory_bytes = std::max(facts.memory_bytes, plan->cost.memory_bytes);
    facts.near_bytes = std::max(facts.near_bytes, plan->cost.near_bytes);
  }
  const double touched =
      facts.work.sectors * static_cast<double>(facts.blocks) *
      static_cast<double>(levels.near->read_transaction_bytes());
  facts.near_bytes =
      std::min(facts.near_bytes, std::max(facts.useful_near_bytes, touched));
  return facts;
}

}  // namespace tilewright
