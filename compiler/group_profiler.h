#ifndef TILEWRIGHT_COMPILER_GROUP_PROFILER_H_
#define TILEWRIGHT_COMPILER_GROUP_PROFILER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/kernel_maker.h"
#include "compiler/kernel_times.h"
#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"
#include "tilegraph/tiling/plan_profiler.h"

namespace tilewright {

// Groups take what their kernels take.
class GroupProfiler : public PlanProfiler {
 public:
  // All must outlive it.
  GroupProfiler(const TensorGraph& graph, KernelMaker& maker,
                KernelTimes& times)
      : graph_(graph), maker_(maker), times_(times) {}

  std::vector<absl::StatusOr<double>> OneCoreSeconds(
      const Plan& plan, absl::Span<const Group> variants) override;
  absl::StatusOr<std::vector<double>> InTurns(
      absl::Span<const GroupOfPlan> groups) override;

 private:
  const TensorGraph& graph_;
  KernelMaker& maker_;
  KernelTimes& times_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_GROUP_PROFILER_H_
