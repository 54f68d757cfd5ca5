#include "measure/worker/codegen_builder.h"

#include <string>
#include <utility>

#include "backends/lowering/tile/lower.h"
#include "base/status_macros.h"
#include "sketch/replay/replay.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::measure {
namespace {

constexpr char kKernelName[] = "candidate";

absl::StatusOr<BuiltCandidate> Build(const backends::Codegen& codegen,
                                     const sketch::Workload& workload,
                                     const sketch::ScheduleProto& proto) {
  TW_ASSIGN_OR_RETURN(const sketch::Schedule schedule,
                      sketch::Schedule::FromProto(proto));
  TW_ASSIGN_OR_RETURN(const sketch::BlockTree tree,
                      sketch::Replay(workload, schedule));
  TW_ASSIGN_OR_RETURN(const kernel_ir::Kernel tiles,
                      lowering::Lower(tree, kKernelName));
  TW_ASSIGN_OR_RETURN(const kernel_ir::ScalarKernel scalar,
                      codegen.Legalize(tiles));
  TW_ASSIGN_OR_RETURN(backends::Module module, codegen.Emit({scalar}));
  BuiltCandidate built;
  built.set_module(std::move(module.bytes));
  built.set_target(module.target);
  built.set_kernel(kKernelName);
  built.set_num_tasks(scalar.num_tasks);
  built.set_scratch_bytes(scalar.scratch_bytes);
  if (!module.kernels.empty()) built.set_spills(module.kernels[0].spills);
  for (const sketch::Buffer& buffer : tree.buffers) {
    if (buffer.level != sketch::MemLevel::kGlobal) continue;
    BuiltCandidate::Argument& argument = *built.add_arguments();
    argument.set_tensor(buffer.tensor);
    argument.set_layout(buffer.layout.ToString());
    argument.set_winograd(buffer.winograd);
  }
  return built;
}

}  // namespace

BuildFunction CodegenBuilder(std::shared_ptr<const backends::Codegen> codegen) {
  return [codegen = std::move(codegen)](const sketch::Workload& workload,
                                        const sketch::ScheduleProto& schedule) {
    return Build(*codegen, workload, schedule);
  };
}

}  // namespace tilewright::measure
