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

ApartGroup Apart(const TensorGraph& graph, const Group& group,
                 const absl::Status& why) {
  ApartGroup apart;
  apart.set_computes(Label(graph, group));
  apart.set_why(std::string(why.message()));
  return apart;
}

bool TakeFailuresApart(const backends::Codegen& codegen, KernelMaker& maker,
                       ApartGroups& apart, CompiledModel& compiled) {
  std::map<TensorId, const Group*> joined;
  for (const Group& group : compiled.plan.groups) {
    if (!group.stages.empty()) joined[group.output] = &group;
  }
  std::vector<Join> kept;
  for (Join& join : compiled.connected.joins) {
    const TensorId output =
        compiled.register_plan.groups[join.groups.back()].output;
    const Group& group = *joined.at(output);
    absl::StatusOr<CompiledKernel> kernel =
        maker.Make(MakeGroupWorkload(compiled.graph, compiled.plan, group));
    absl::Status status = kernel.status();
    if (kernel.ok()) {
      kernel->scalar.name = "k";
      status = codegen.Emit({kernel->scalar}).status();
    }
    if (status.ok()) {
      kept.push_back(std::move(join));
      continue;
    }
    apart[output] = Apart(compiled.graph, group, status);
    for (JoinDecision& decision : compiled.connected.decisions) {
      if (decision.groups != join.groups || !decision.taken) continue;
      decision.taken = false;
      decision.why = absl::StrCat("no kernel for it: ", status.message());
    }
  }
  if (kept.size() == compiled.connected.joins.size()) return false;
  compiled.connected.joins = std::move(kept);
  compiled.plan =
      JoinedPlan(compiled.graph, compiled.register_plan, compiled.connected);
  return true;
}

void ReportApart(const ApartGroups& apart, CompiledModel& compiled) {
  std::set<TensorId> fused;
  for (const Group& group : compiled.plan.groups) {
    if (!group.stages.empty()) fused.insert(group.output);
  }
  for (const auto& [output, group] : apart) {
    if (!fused.count(output)) *compiled.program.add_apart() = group;
  }
}

}  // namespace tilewright
