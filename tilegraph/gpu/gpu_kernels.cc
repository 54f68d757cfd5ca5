#include "tilegraph/gpu/gpu_kernels.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/fuse/fused_groups.h"
#include "tilegraph/fuse/fusion_decision.h"
#include "tilegraph/gpu/gpu_cost_model.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/ir/layout.h"

namespace tilewright {
namespace {

// The groups of the plan in one kernel, which `group` is.
GpuKernel KernelOf(const Plan& plan, std::vector<int> groups,
                   const Group& group, GpuTilePlans& plans) {
  GpuKernel kernel;
  kernel.groups = std::move(groups);
  absl::StatusOr<std::vector<GpuTilePlan>> tiles = plans.Of(group);
  if (tiles.ok()) {
    kernel.tiles = *std::move(tiles);
  } else {
    kernel.why_not = std::string(tiles.status().message());
  }
  for (const int g : kernel.groups) {
    absl::StatusOr<std::vector<GpuTilePlan>> alone = plans.Of(plan.groups[g]);
    if (alone.ok()) kernel.unfused.push_back(std::move(alone->front()));
  }
  return kernel;
}

// Adds what the search compared to the kernels that have a part of it.
void AddAlternatives(const std::vector<FusionDecision>& decisions,
                     const FusionRules& rules, GpuTilePlans& plans,
                     std::vector<GpuKernel>& kernels) {
  for (const FusionDecision& decision : decisions) {
    if (decision.taken) continue;
    GpuAlternative alternative{decision.groups, std::nullopt,
                               decision.unfused_core_seconds, decision.why};
    if (const absl::StatusOr<Group> fused = rules.Fused(decision.groups);
        fused.ok()) {
      alternative.tiles = plans.BestSoFar(*fused);
    }
    for (GpuKernel& kernel : kernels) {
      const auto inside = [&](int g) {
        return std::binary_search(kernel.groups.begin(), kernel.groups.end(),
                                  g);
      };
      if (std::any_of(decision.groups.begin(), decision.groups.end(), inside))
        kernel.alternatives.push_back(alternative);
    }
  }
}

// What a generator is asked for if groups are kernels of their own. A refused
// one is asked again: its error says why.
void AddTilePlans(GpuTilePlans& plans, Plan& plan) {
  for (Group& group : plan.groups) {
    const absl::StatusOr<std::vector<GpuTilePlan>> tiles = plans.Of(group);
    if (tiles.ok()) {
      group.tile_plan.block = tiles->front().block;
      group.tile_plan.generated = true;
    } else {
      group.tile_plan.block = plans.RefusedBlock(group);
    }
    if (group.tile_plan.block)
      group.tile_plan.tile = group.tile_plan.block->tile;
  }
}

// `plan` with this group as one of each of its computes.
Plan Split(const TensorGraph& graph, const Plan& plan, size_t group) {
  Plan result = plan;
  result.groups.erase(result.groups.begin() + static_cast<int64_t>(group));
  std::vector<Group> parts;
  for (const TensorId member : plan.groups[group].members) {
    Group& one = parts.emplace_back();
    one.members = {member};
    const auto& inputs = graph.Inputs(member);
    const std::set<TensorId> distinct(inputs.begin(), inputs.end());
    one.inputs.assign(distinct.begin(), distinct.end());
    one.output = member;
    one.why = {"its reductions take less in kernels of their own"};
    result.layouts.emplace(
        member, Layout::RowMajor(graph.tensor(member).static_shape()));
  }
  result.groups.insert(result.groups.begin() + static_cast<int64_t>(group),
                       std::make_move_iterator(parts.begin()),
                       std::make_move_iterator(parts.end()));
  return result;
}

// Groups of several reductions whose computes take less as kernels of their
// own, or of which nothing fits, are split; the search may fuse some again.
Plan WithSplitGroups(const TensorGraph& graph, const Plan& plan,
                     double least_gain, GpuTilePlans& whole) {
  const auto reduces = [&](TensorId id) {
    return !graph.tensor(id).compute.reduce_axes.empty();
  };
  Plan result = plan;
  std::map<EstimateKey, bool> splits;  // equal groups are decided once
  for (size_t g = 0; g < result.groups.size(); ++g) {
    const Group group = result.groups[g];
    if (std::count_if(group.members.begin(), group.members.end(), reduces) < 2)
      continue;
    Plan split = Split(graph, result, g);
    const auto [known, added] = splits.emplace(whole.KeyOf(group), true);
    if (added) {
      GpuTilePlans parts(whole, split);
      parts.Prepare(
          absl::MakeSpan(split.groups).subspan(g, group.members.size()));
      double seconds = 0;
      for (size_t i = 0; i < group.members.size(); ++i) {
        const auto tiles = parts.Of(split.groups[g + i]);
        seconds += tiles.ok() ? tiles->front().cost.seconds
                              : std::numeric_limits<double>::infinity();
      }
      const auto tiles = whole.Of(group);
      known->second = !tiles.ok() ||
                      seconds < tiles->front().cost.seconds * (1 - least_gain);
    }
    if (!known->second) continue;
    result = std::move(split);
    g += group.members.size() - 1;
  }
  return result;
}

double Sum(const std::vector<GpuTilePlan>& plans) {
  double seconds = 0;
  for (const GpuTilePlan& plan : plans) seconds += plan.cost.seconds;
  return seconds;
}

}  // namespace

absl::StatusOr<GpuPlan> PlanGpuKernels(const TensorGraph& graph,
                                       const Plan& given,
                                       const DeviceSpec& spec,
                                       const GpuKernelsOptions& options) {
  if (!GpuLevelsOf(spec))
    return absl::InvalidArgumentError(
        absl::StrCat("spec '", spec.name(), "' has no cores with scratchpads"));
  GpuTilePlans of_given(graph, given, spec, options.tiling, options.generate,
                        options.threads);
  of_given.Prepare(given.groups);
  GpuPlan result{WithSplitGroups(graph, given, options.least_gain, of_given),
                 {}};
  const Plan& plan = result.plan;
  std::vector<GpuKernel>& kernels = result.kernels;
  GpuTilePlans plans(of_given, plan);
  ConnectPlanOptions connect;
  connect.search = options.search;
  connect.evaluate.least_gain = options.least_gain;
  connect.evaluate.may_move_more = true;
  if (options.generate)
    connect.evaluate.generate = [&](const Group& group,
                                    const Plan&) -> absl::StatusOr<TilePlan> {
      TW_ASSIGN_OR_RETURN(const GpuTilePlan made, plans.Generated(group));
      return AsGroupCost(made).plan;
    };
  connect.may_leave_first = options.search == ConnectSearch::kEdges;
  connect.most_groups = options.fuse ? options.most_groups : 1;
  result.connected = ConnectPlan(graph, plan, GpuCostModel(plans), connect);
  std::set<int> fused;
  const FusionRules rules(graph, plan);
  for (Fusion& fusion : result.connected.fusions) {
    TW_ASSIGN_OR_RETURN(const Group group, rules.Fused(fusion.groups));
    kernels.push_back(KernelOf(plan, fusion.groups, group, plans));
    // In this group's tensors: estimates are those of the first group of equal
    // key.
    if (options.generate && !kernels.back().tiles.empty()) {
      fusion.tile_plan.tile = kernels.back().tiles.front().tile;
      fusion.tile_plan.block = kernels.back().tiles.front().block;
    }
    fused.insert(fusion.groups.begin(), fusion.groups.end());
  }
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const int group = static_cast<int>(g);
    if (!fused.count(group))
      kernels.push_back(KernelOf(plan, {group}, plan.groups[g], plans));
  }
  // A kernel runs where its last group did.
  std::sort(kernels.begin(), kernels.end(),
            [](const GpuKernel& a, const GpuKernel& b) {
              return a.groups.back() < b.groups.back();
            });
  if (options.fuse)
    AddAlternatives(result.connected.decisions, rules, plans, kernels);
  if (options.generate) AddTilePlans(plans, result.plan);
  return result;
}

double GpuKernel::seconds() const {
  return tiles.empty() ? 0 : tiles.front().cost.seconds;
}

double GpuKernel::unfused_seconds() const { return Sum(unfused); }

double GpuPlan::seconds() const {
  double sum = 0;
  for (const GpuKernel& kernel : kernels) sum += kernel.seconds();
  return sum;
}

std::string ToString(const TensorGraph& graph, const GpuPlan& plan) {
  std::string out;
  double unfused = 0, bytes = 0;
  int fused = 0;
  for (const GpuKernel& kernel : plan.kernels) {
    const Group& last = plan.plan.groups[kernel.groups.back()];
    absl::StrAppend(&out, "group ", absl::StrJoin(kernel.groups, "+"), " -> ",
                    graph.tensor(last.output).name);
    if (kernel.tiles.empty()) {
      absl::StrAppend(&out, ": no plan: ", kernel.why_not, "\n");
      continue;
    }
    if (kernel.groups.size() > 1) {
      ++fused;
      absl::StrAppendFormat(&out, ", %.1f us unfused",
                            kernel.unfused_seconds() * 1e6);
    }
    out += "\n" + ToString(graph, kernel.tiles.front());
    unfused += kernel.unfused_seconds();
    bytes += kernel.tiles.front().cost.memory_bytes;
  }
  absl::StrAppendFormat(&out,
                        "%d kernels, %d of them fused: %.1f us, %.2f MB of "
                        "memory; unfused %.1f us\n",
                        static_cast<int>(plan.kernels.size()), fused,
                        plan.seconds() * 1e6, bytes * 1e-6, unfused * 1e6);
  return out;
}

}  // namespace tilewright
