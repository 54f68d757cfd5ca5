#include "tilegraph/tiling/align/gpu_kernels.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "tilegraph/tiling/align/gpu_cost_model.h"
#include "tilegraph/tiling/align/gpu_levels.h"
#include "tilegraph/tiling/connect_plan.h"
#include "tilegraph/tiling/joined_groups.h"

namespace tilewright {
namespace {

// The groups of the plan in one kernel, which `group` is.
GpuKernel KernelOf(std::vector<int> groups, const Group& group,
                   const std::vector<GroupCost>& costs, GpuTilePlans& plans) {
  GpuKernel kernel;
  kernel.groups = std::move(groups);
  for (const int g : kernel.groups) kernel.apart_seconds += costs[g].seconds;
  absl::StatusOr<GpuTilePlan> tiles = plans.Of(group);
  if (tiles.ok()) {
    kernel.tiles = *std::move(tiles);
  } else {
    kernel.why_not = std::string(tiles.status().message());
  }
  return kernel;
}

}  // namespace

absl::StatusOr<std::vector<GpuKernel>> PlanGpuKernels(
    const TensorGraph& graph, const Plan& plan, const DeviceSpec& spec,
    const GpuKernelsOptions& options) {
  if (!GpuLevelsOf(spec))
    return absl::InvalidArgumentError(
        absl::StrCat("spec '", spec.name(), "' has no cores with scratchpads"));
  GpuTilePlans plans(graph, plan, spec, options.tiling);
  ConnectPlanOptions connect;
  connect.search = options.search;
  connect.weigh.least_gain = options.least_gain;
  connect.weigh.may_move_more = true;
  connect.most_groups = options.join ? options.most_groups : 1;
  const ConnectedGroups connected =
      ConnectPlan(graph, plan, GpuCostModel(graph, plan, plans), connect);
  std::vector<GpuKernel> kernels;
  std::set<int> fused;
  const JoinRules rules(graph, plan);
  for (const Join& join : connected.joins) {
    TW_ASSIGN_OR_RETURN(const Group group, rules.Joined(join.groups));
    kernels.push_back(KernelOf(join.groups, group, connected.costs, plans));
    fused.insert(join.groups.begin(), join.groups.end());
  }
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const int group = static_cast<int>(g);
    if (!fused.count(group))
      kernels.push_back(
          KernelOf({group}, plan.groups[g], connected.costs, plans));
  }
  // A kernel runs where its last group did.
  std::sort(kernels.begin(), kernels.end(),
            [](const GpuKernel& a, const GpuKernel& b) {
              return a.groups.back() < b.groups.back();
            });
  return kernels;
}

std::string ToString(const TensorGraph& graph, const Plan& plan,
                     const std::vector<GpuKernel>& kernels) {
  std::string out;
  double seconds = 0, apart = 0, bytes = 0;
  int joined = 0;
  for (const GpuKernel& kernel : kernels) {
    const Group& last = plan.groups[kernel.groups.back()];
    absl::StrAppend(&out, "group ", absl::StrJoin(kernel.groups, "+"), " -> ",
                    graph.tensor(last.output).name);
    if (!kernel.tiles) {
      absl::StrAppend(&out, ": no plan: ", kernel.why_not, "\n");
      continue;
    }
    if (kernel.groups.size() > 1) {
      ++joined;
      absl::StrAppendFormat(&out, ", %.1f us apart",
                            kernel.apart_seconds * 1e6);
    }
    out += "\n" + ToString(graph, *kernel.tiles);
    seconds += kernel.tiles->cost.seconds;
    apart += kernel.apart_seconds;
    bytes += kernel.tiles->cost.memory_bytes;
  }
  absl::StrAppendFormat(&out,
                        "%d kernels, %d of them joined: %.1f us, %.2f MB of "
                        "memory; apart %.1f us\n",
                        static_cast<int>(kernels.size()), joined, seconds * 1e6,
                        bytes * 1e-6, apart * 1e6);
  return out;
}

}  // namespace tilewright
