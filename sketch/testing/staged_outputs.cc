#include "sketch/testing/staged_outputs.h"

#include <utility>

#include "base/random.h"
#include "sketch/testing/staged_windows.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {

StagedWorkload GiveOut(StagedWorkload staged, const std::vector<size_t>& stages,
                       bool halo) {
  std::vector<TensorId> outputs;
  for (const size_t stage : stages) {
    Layout& layout = staged.plan.stages[stage].layout;
    const size_t rank = layout.shape().size();
    if (halo) {
      std::vector<int64_t> before(rank, 0), after(rank, 0);
      before.back() = 1;
      after.back() = 2;
      layout = layout.WithHalo(before, after, Layout::Fill::kZero);
    }
    outputs.push_back(staged.workload.stages[stage].back());
    staged.workload.layouts[outputs.back()] = layout;
  }
  outputs.push_back(staged.workload.stages.back().back());
  staged.workload.graph.SetOutputs(std::move(outputs));
  return staged;
}

StagedWorkload DrawGivingOut(uint64_t seed) {
  Random random(seed);
  StagedWorkload staged;
  switch (random.Index(4)) {
    case 0:
      staged = DrawWindowChain(seed);
      break;
    case 1:
      staged = AddNorm(random.UniformInt(1, 20), random.UniformInt(0, 40),
                       random.UniformInt(1, 70), random.UniformInt(1, 40));
      staged.plan.tile[0] = random.UniformInt(1, 20);
      break;
    default:
      staged = DrawStaged(seed);
  }
  // Whole rows, so that neighbours need other parts of what comes before.
  if (staged.plan.tile.size() < 4 && random.Bernoulli(0.8))
    staged.plan.tile.back() = staged.plan.stages.back().layout.shape().back();
  std::vector<size_t> stages;
  const size_t count = staged.plan.stages.size() - 1;
  for (size_t s = 0; s < count; ++s) {
    if (random.Bernoulli(0.5)) stages.push_back(s);
  }
  if (stages.empty() && count > 0) stages.push_back(random.Index(count));
  return GiveOut(std::move(staged), stages, random.Bernoulli(0.25));
}

}  // namespace tilewright::sketch
