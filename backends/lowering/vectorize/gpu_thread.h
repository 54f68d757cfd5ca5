// Legalize for a thread of a GPU: what GPU backends share.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_GPU_THREAD_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_GPU_THREAD_H_

#include "absl/status/statusor.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"

namespace tilewright::lowering {

// Vectors are 16 bytes, the widest access of a thread; functions are expanded
// with fused multiply-adds. Errors of Legalize.
absl::StatusOr<kernel_ir::ScalarKernel> LegalizeForGpuThread(
    const kernel_ir::Kernel& kernel);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_GPU_THREAD_H_
