// Kernels of groups: scheduled, lowered and legalized. Groups of equal workload
// and stages share one.
#ifndef TILEWRIGHT_COMPILER_KERNEL_MAKER_H_
#define TILEWRIGHT_COMPILER_KERNEL_MAKER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "compiler/group_workload.h"
#include "sketch/schedule.h"

namespace tilewright {

// One distinct kernel, through every representation.
struct CompiledKernel {
  GroupWorkload workload;  // of the first group that needs it
  sketch::Schedule schedule;
  kernel_ir::Kernel tile;
  kernel_ir::ScalarKernel scalar;
  std::vector<Layout> arg_layouts;    // by argument
  std::vector<TensorId> arg_tensors;  // by argument: tensor id of the workload
  backends::KernelReport report;
};

class KernelMaker {
 public:
  // `codegen` must outlive it.
  explicit KernelMaker(const backends::Codegen& codegen) : codegen_(codegen) {}

  // The kernel of this workload, without name and report; made once per Key.
  // Errors of its schedule, of lowering and of the backend are passed on.
  const absl::StatusOr<CompiledKernel>& Make(const GroupWorkload& workload);

  // Equal for workloads that share a kernel.
  static std::string Key(const GroupWorkload& workload);

 private:
  const backends::Codegen& codegen_;
  std::map<std::string, absl::StatusOr<CompiledKernel>> made_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_KERNEL_MAKER_H_
