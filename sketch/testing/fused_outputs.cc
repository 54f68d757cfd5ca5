#include "sketch/testing/fused_outputs.h"

#include <utility>

#include "base/random.h"
#include "sketch/testing/fused_windows.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {

FusedWorkload GiveOut(FusedWorkload fused, const std::vector<size_t>& stages,
                      bool halo) {
  std::vector<TensorId> outputs;
  for (const size_t stage : stages) {
    Layout& layout = fused.plan.stages[stage].layout;
    const size_t rank = layout.shape().size();
    if (halo) {
      std::vector<int64_t> before(rank, 0), after(rank, 0);
      before.back() = 1;
      after.back() = 2;
      layout = layout.WithHalo(before, after, Layout::Fill::kZero);
    }
    outputs.push_back(fused.workload.stages[stage].back());
    fused.workload.layouts[outputs.back()] = layout;
  }
  outputs.push_back(fused.workload.stages.back().back());
  fused.workload.graph.SetOutputs(std::move(outputs));
  return fused;
}

FusedWorkload DrawGivingOut(uint64_t seed) {
  Random random(seed);
  FusedWorkload fused;
  switch (random.Index(4)) {
    case 0:
      fused = DrawWindowChain(seed);
      break;
    case 1:
      fused = AddNorm(random.UniformInt(1, 20), random.UniformInt(0, 40),
                      random.UniformInt(1, 70), random.UniformInt(1, 40));
      fused.plan.tile[0] = random.UniformInt(1, 20);
      break;
    default:
      fused = DrawFused(seed);
  }
  // Whole rows, so that neighbours need other parts of what comes before.
  if (fused.plan.tile.size() < 4 && random.Bernoulli(0.8))
    fused.plan.tile.back() = fused.plan.stages.back().layout.shape().back();
  std::vector<size_t> stages;
  const size_t count = fused.plan.stages.size() - 1;
  for (size_t s = 0; s < count; ++s) {
    if (random.Bernoulli(0.5)) stages.push_back(s);
  }
  if (stages.empty() && count > 0) stages.push_back(random.Index(count));
  return GiveOut(std::move(fused), stages, random.Bernoulli(0.25));
}

}  // namespace tilewright::sketch
