#include "compiler/records/group_profiler.h"

#include "base/status_macros.h"
#include "compiler/kernels/group_workload.h"

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

absl::StatusOr<std::vector<const CompiledKernel*>> GroupProfiler::Kernels(
    absl::Span<const GroupOfPlan> groups) {
  std::vector<const CompiledKernel*> kernels;
  for (const GroupOfPlan& one : groups) {
    const absl::StatusOr<CompiledKernel>& kernel =
        maker_.Make(MakeGroupWorkload(graph_, *one.plan, *one.group));
    TW_RETURN_IF_ERROR(kernel.status());
    kernels.push_back(&*kernel);
  }
  return kernels;
}

absl::StatusOr<std::vector<double>> GroupProfiler::Interleaved(
    absl::Span<const GroupOfPlan> groups) {
  TW_ASSIGN_OR_RETURN(const std::vector<const CompiledKernel*> kernels,
                      Kernels(groups));
  return times_.Interleaved(kernels);
}

std::optional<absl::StatusOr<double>> GroupProfiler::Find(
    const GroupOfPlan& group) {
  return times_.Find(
      KernelMaker::KeyOf(MakeGroupWorkload(graph_, *group.plan, *group.group)));
}

std::optional<std::vector<double>> GroupProfiler::FindInterleaved(
    absl::Span<const GroupOfPlan> groups) {
  std::vector<KernelMaker::Key> keys;
  for (const GroupOfPlan& one : groups)
    keys.push_back(
        KernelMaker::KeyOf(MakeGroupWorkload(graph_, *one.plan, *one.group)));
  return times_.FindInterleaved(keys);
}

void GroupProfiler::Keep(const GroupOfPlan& group,
                         const absl::StatusOr<double>& /*seconds*/) {
  const auto kernels = Kernels({group});
  if (kernels.ok()) times_.Keep(*kernels);
}

void GroupProfiler::KeepInterleaved(absl::Span<const GroupOfPlan> groups,
                                    const std::vector<double>& /*seconds*/) {
  const auto kernels = Kernels(groups);
  if (kernels.ok()) times_.Keep(*kernels);
}

}  // namespace tilewright
