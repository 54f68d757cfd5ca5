#include "compiler/group_profiler.h"

#include "base/status_macros.h"
#include "compiler/group_workload.h"

namespace tilewright {

std::vector<absl::StatusOr<double>> GroupProfiler::OneCoreSeconds(
    const Plan& plan, absl::Span<const Group> variants) {
  std::vector<absl::StatusOr<double>> result;
  std::vector<const CompiledKernel*> kernels;
  std::vector<size_t> places;
  for (const Group& variant : variants) {
    const absl::StatusOr<CompiledKernel>& kernel =
        maker_.Make(MakeGroupWorkload(graph_, plan, variant));
    if (kernel.ok()) {
      kernels.push_back(&*kernel);
      places.push_back(result.size());
      result.emplace_back(0.0);
    } else {
      result.emplace_back(kernel.status());
    }
  }
  const std::vector<absl::StatusOr<double>> seconds =
      times_.OneCoreSeconds(kernels);
  for (size_t i = 0; i < places.size(); ++i) result[places[i]] = seconds[i];
  return result;
}

absl::StatusOr<std::vector<double>> GroupProfiler::InTurns(
    absl::Span<const GroupOfPlan> groups) {
  std::vector<const CompiledKernel*> kernels;
  for (const GroupOfPlan& one : groups) {
    const absl::StatusOr<CompiledKernel>& kernel =
        maker_.Make(MakeGroupWorkload(graph_, *one.plan, *one.group));
    TW_RETURN_IF_ERROR(kernel.status());
    kernels.push_back(&*kernel);
  }
  return times_.InTurns(kernels);
}

}  // namespace tilewright
