#include "bench/traffic/group_kernel.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/kernels/group_workload.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/plan/memory_of.h"

namespace tilewright::bench {

absl::StatusOr<ChainKernel> KernelOfGroup(const TensorGraph& graph,
                                          const Plan& plan, const Group& group,
                                          KernelMaker& maker,
                                          const std::string& name) {
  const GroupWorkload own = MakeGroupWorkload(graph, plan, group);
  TW_ASSIGN_OR_RETURN(const CompiledKernel made, maker.Make(own));
  ChainKernel kernel;
  kernel.scalar = made.scalar;
  kernel.scalar.name = "kernel";
  for (size_t i = 0; i < made.arg_tensors.size(); ++i) {
    const TensorId local = made.arg_tensors[i];
    const TensorId id = own.model_tensor[local];
    const int64_t element_bytes = SizeBytes(graph.tensor(id).dtype);
    if (graph.tensor(id).kind == TensorKind::kConstant) {
      kernel.arguments.push_back(
          {absl::StrCat(name, " ", i),
           made.arg_layouts[i].physical_elements() * element_bytes, 0});
      continue;
    }
    const TensorId root = MemoryOf(plan, id);
    kernel.arguments.push_back({graph.tensor(root).name,
                                plan.layouts.at(root).physical_elements() *
                                    SizeBytes(graph.tensor(root).dtype),
                                own.offset_bytes[local]});
  }
  return kernel;
}

}  // namespace tilewright::bench
