#include "compiler/compile_fallbacks.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/kernels/group_workload.h"
#include "tilegraph/fuse/connect_plan.h"

namespace tilewright {

std::string Label(const TensorGraph& graph, const Group& group) {
  return absl::StrJoin(group.members, " ", [&](std::string* text, TensorId id) {
    text->append(graph.tensor(id).name);
  });
}

absl::StatusOr<backends::Module> EmitOrMakeAnother(
    const backends::Codegen& codegen, KernelMaker& maker,
    std::vector<CompiledKernel>& kernels) {
  for (;;) {
    std::vector<kernel_ir::ScalarKernel> scalars;
    for (const CompiledKernel& kernel : kernels)
      scalars.push_back(kernel.scalar);
    absl::StatusOr<backends::Module> module = codegen.Emit(scalars);
    if (module.ok()) return module;
    bool changed = false;
    for (CompiledKernel& kernel : kernels) {
      const absl::Status status = codegen.Emit({kernel.scalar}).status();
      if (status.ok()) continue;
      absl::StatusOr<CompiledKernel> other =
          maker.MakeAnother(kernel.workload, status);
      if (!other.ok()) {
        return absl::Status(
            status.code(),
            absl::StrCat(kernel.scalar.name, ": ", status.message()));
      }
      other->workload = kernel.workload;
      other->tile.name = other->scalar.name = kernel.scalar.name;
      kernel = *std::move(other);
      changed = true;
    }
    if (!changed) return module;
  }
}

UnfusedGroup Unfused(const TensorGraph& graph, const Group& group,
                     const absl::Status& why) {
  UnfusedGroup unfused;
  unfused.set_computes(Label(graph, group));
  unfused.set_why(std::string(why.message()));
  return unfused;
}

bool UnfuseFailures(const backends::Codegen& codegen, KernelMaker& maker,
                    UnfusedGroups& unfused, CompiledModel& compiled) {
  std::map<TensorId, const Group*> fused;
  for (const Group& group : compiled.plan.groups) {
    if (!group.stages.empty()) fused[group.output] = &group;
  }
  std::vector<Fusion> kept;
  for (Fusion& fusion : compiled.connected.fusions) {
    const TensorId output =
        compiled.register_plan.groups[fusion.groups.back()].output;
    const Group& group = *fused.at(output);
    absl::StatusOr<CompiledKernel> kernel =
        maker.Make(MakeGroupWorkload(compiled.graph, compiled.plan, group));
    absl::Status status = kernel.status();
    if (kernel.ok()) {
      kernel->scalar.name = "k";
      status = codegen.Emit({kernel->scalar}).status();
    }
    if (status.ok()) {
      kept.push_back(std::move(fusion));
      continue;
    }
    unfused[output] = Unfused(compiled.graph, group, status);
    for (FusionDecision& decision : compiled.connected.decisions) {
      if (decision.groups != fusion.groups || !decision.taken) continue;
      decision.taken = false;
      decision.why = absl::StrCat("no kernel for it: ", status.message());
    }
  }
  if (kept.size() == compiled.connected.fusions.size()) return false;
  compiled.connected.fusions = std::move(kept);
  compiled.plan =
      FusedPlan(compiled.graph, compiled.register_plan, compiled.connected);
  return true;
}

void ReportUnfused(const UnfusedGroups& unfused, CompiledModel& compiled) {
  std::set<TensorId> fused;
  for (const Group& group : compiled.plan.groups) {
    if (!group.stages.empty()) fused.insert(group.output);
  }
  for (const auto& [output, group] : unfused) {
    if (!fused.count(output)) *compiled.program.add_unfused() = group;
  }
}

}  // namespace tilewright
