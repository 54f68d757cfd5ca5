// Plans of the ten subgraphs on five devices, and which traits of a device make
// its plan differ from the first one's: docs/results/gpu_plans.md.
//
//   print_gpu_plans [--why]   with what inspect --what=why says
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "tilegraph/gpu/gpu_kernels.h"
#include "tilegraph/gpu/gpu_subgraphs.h"
#include "tilegraph/gpu/gpu_traits.h"

namespace tilewright {
namespace {

constexpr const char* kSpecs[] = {"v100", "a100", "h100", "mi210", "ipu_mk2"};

GpuPlan PlanFor(const GpuSubgraph& subgraph, const DeviceSpec& spec) {
  absl::StatusOr<GpuPlan> plan =
      PlanGpuKernels(subgraph.graph, subgraph.plan, spec, {});
  TW_CHECK(plan.ok()) << plan.status();
  return *std::move(plan);
}

// The fewest traits of `other`, up to three, with which `spec` gets `levels`.
std::string CauseOf(const GpuSubgraph& subgraph, const DeviceSpec& spec,
                    const DeviceSpec& other, const std::string& levels) {
  const std::vector<GpuTrait> all = AllGpuTraits();
  const auto alike = [&](const std::vector<GpuTrait>& traits) {
    const DeviceSpec mixed = WithTraits(spec, other, traits);
    return LevelsText(subgraph.graph, PlanFor(subgraph, mixed)) == levels;
  };
  std::vector<std::string> causes;
  for (const GpuTrait one : all)
    if (alike({one})) causes.push_back(Name(one));
  if (!causes.empty()) return absl::StrJoin(causes, " or ");
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (alike({all[i], all[j]}))
        causes.push_back(absl::StrCat(Name(all[j]), " and ", Name(all[i])));
  return causes.empty() ? "more than two traits"
                        : absl::StrJoin(causes, " or ");
}

// The kernels, by what they give.
std::string KernelsText(const GpuSubgraph& subgraph, const GpuPlan& plan) {
  std::vector<std::string> kernels;
  for (const GpuKernel& kernel : plan.kernels)
    kernels.push_back(
        absl::StrJoin(kernel.groups, "+", [&](std::string* out, int g) {
          out->append(subgraph.graph.tensor(plan.plan.groups[g].output).name);
        }));
  return absl::StrJoin(kernels, ", ");
}

void Print(const GpuSubgraph& subgraph, bool why) {
  std::printf("## %s\n\n", subgraph.name.c_str());
  if (!why)
    std::printf(
        "| device | kernels | us | limited by | levels |\n"
        "|---|---|---|---|---|\n");
  std::string first, notes;
  std::vector<std::string> known;
  for (const char* name : kSpecs) {
    const DeviceSpec spec = *LoadSpec(name);
    const GpuPlan plan = PlanFor(subgraph, spec);
    const std::string levels = LevelsText(subgraph.graph, plan);
    if (why) {
      std::printf("%s\n%s\n", name, WhyText(subgraph.graph, plan, -1).c_str());
      continue;
    }
    std::vector<std::string> limits;
    for (const GpuKernel& kernel : plan.kernels)
      limits.push_back(kernel.tiles.empty()
                           ? "does not fit"
                           : ShortText(LimitOf(kernel.tiles.front())));
    std::printf("| %s | %s | %.0f | %s | %s |\n", name,
                KernelsText(subgraph, plan).c_str(), plan.seconds() * 1e6,
                absl::StrJoin(limits, ", ").c_str(),
                first == levels ? "as on v100" : levels.c_str());
    if (first.empty()) {
      first = levels;
    } else if (levels != first) {
      absl::StrAppend(&notes, "- ", name, " differs from v100 by its ",
                      CauseOf(subgraph, *LoadSpec("v100"), spec, levels),
                      ".\n");
    }
  }
  std::printf("\n%s\n", notes.c_str());
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  const bool why = argc > 1 && std::strcmp(argv[1], "--why") == 0;
  for (const tilewright::GpuSubgraph& one : tilewright::GpuSubgraphs())
    tilewright::Print(one, why);
}
