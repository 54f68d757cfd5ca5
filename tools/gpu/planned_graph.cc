#include "tools/gpu/planned_graph.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/connect_gpu.h"
#include "compiler/kernels/group_workload.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/gpu/gpu_kernels.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::cuda {
namespace {

absl::StatusOr<PlannedKernel> PlanKernel(const TensorGraph& graph,
                                         const Plan& plan, const Group& group,
                                         const PlannedGpu& gpu,
                                         KernelMaker& maker) {
  const GroupWorkload workload = MakeGroupWorkload(graph, plan, group);
  PlannedKernel planned;
  TW_ASSIGN_OR_RETURN(planned.kernel, maker.Make(workload));
  for (const TensorId arg : planned.kernel.arg_tensors)
    planned.args.push_back(workload.model_tensor[arg]);
  planned.tiles = TilesOf(gpu, group);
  planned.flops = static_cast<double>(CountFlops(workload.workload.graph));
  planned.bytes = static_cast<double>(CompulsoryBytes(workload.workload.graph));
  return planned;
}

}  // namespace

absl::StatusOr<PlannedGraph> PlanKernels(const std::string& text,
                                         const backends::Codegen& codegen) {
  PlannedGraph planned;
  TW_ASSIGN_OR_RETURN(planned.graph, ParseText(text));
  PlanOptions options;
  options.channel_block = 0;
  KernelMaker maker(codegen);
  TW_ASSIGN_OR_RETURN(
      planned.gpu,
      PlanForThreads(planned.graph, MakePlan(planned.graph, options),
                     codegen.spec(), GpuKernelsOptions(), maker));
  const Plan plan = FusedPlan(planned.graph, planned.gpu->plan.plan,
                              planned.gpu->plan.connected);
  for (const Group& group : plan.groups) {
    TW_ASSIGN_OR_RETURN(
        PlannedKernel kernel,
        PlanKernel(planned.graph, plan, group, *planned.gpu, maker));
    kernel.kernel.scalar.name = absl::StrCat("k", planned.kernels.size());
    planned.kernels.push_back(std::move(kernel));
  }
  return planned;
}

absl::StatusOr<PlannedGraph> PlanGraph(const std::string& text,
                                       const backends::Codegen& codegen) {
  TW_ASSIGN_OR_RETURN(PlannedGraph planned, PlanKernels(text, codegen));
  std::vector<kernel_ir::ScalarKernel> scalars;
  for (const PlannedKernel& kernel : planned.kernels)
    scalars.push_back(kernel.kernel.scalar);
  TW_ASSIGN_OR_RETURN(backends::Module module, codegen.Emit(scalars));
  for (size_t i = 0; i < module.kernels.size(); ++i)
    planned.kernels[i].kernel.report = std::move(module.kernels[i]);
  planned.module = std::move(module.bytes);
  planned.target = std::move(module.target);
  return planned;
}

}  // namespace tilewright::cuda
