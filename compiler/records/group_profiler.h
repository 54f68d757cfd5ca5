#ifndef TILEWRIGHT_COMPILER_RECORDS_GROUP_PROFILER_H_
#define TILEWRIGHT_COMPILER_RECORDS_GROUP_PROFILER_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/kernels/kernel_maker.h"
#include "compiler/records/kernel_times.h"
#include "tilegraph/fuse/plan_cache.h"
#include "tilegraph/fuse/plan_profiler.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// Groups take what their kernels take, and are known by what their kernels are
// known by; only what records do not tell without the kernels is made.
class GroupProfiler : public PlanProfiler, public PlanCache {
 public:
  // All must outlive it.
  GroupProfiler(const TensorGraph& graph, KernelMaker& maker,
                KernelTimes& times)
      : graph_(graph), maker_(maker), times_(times) {}

  std::vector<absl::StatusOr<double>> OneCoreSeconds(
      const Plan& plan, absl::Span<const Group> variants) override;
  absl::StatusOr<std::vector<double>> Interleaved(
      absl::Span<const GroupOfPlan> groups) override;

  std::optional<absl::StatusOr<double>> Find(const GroupOfPlan& group) override;
  std::optional<std::vector<double>> FindInterleaved(
      absl::Span<const GroupOfPlan> groups) override;
  // A measured time is recorded already: it is found by the group, too.
  void Keep(const GroupOfPlan& group,
            const absl::StatusOr<double>& seconds) override;
  void KeepInterleaved(absl::Span<const GroupOfPlan> groups,
                       const std::vector<double>& seconds) override;

 private:
  // The first error, if one cannot be made.
  absl::StatusOr<std::vector<const CompiledKernel*>> Kernels(
      absl::Span<const GroupOfPlan> groups);

  const TensorGraph& graph_;
  KernelMaker& maker_;
  KernelTimes& times_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_RECORDS_GROUP_PROFILER_H_
