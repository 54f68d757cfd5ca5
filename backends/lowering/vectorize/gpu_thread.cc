#include "backends/lowering/vectorize/gpu_thread.h"

#include "backends/lowering/passes/expand_functions.h"
#include "backends/lowering/passes/join_loads.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "base/status_macros.h"

namespace tilewright::lowering {

absl::StatusOr<kernel_ir::ScalarKernel> LegalizeForGpuThread(
    const kernel_ir::Kernel& kernel) {
  VectorTarget target;
  target.vector_bytes = 16;
  target.registers = 255;
  TW_ASSIGN_OR_RETURN(kernel_ir::ScalarKernel scalar, Legalize(kernel, target));
  JoinLoads(scalar);
  ExpandFunctions(scalar);
  return scalar;
}

}  // namespace tilewright::lowering
