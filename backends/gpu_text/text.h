// The scalar tier as the text of GPU kernels. One text serves every dialect and
// the emulator; it includes nothing and leans on what prelude.h defines.
//
// A kernel is an extern "C" __global__ function of its own name that takes the
// address of each argument buffer, in order. A task is a block, its number
// blockIdx.x, of one thread or of the kernel's threads; scratch is the block's
// shared memory, what threads have for themselves an array. Vectors are
// short arrays. Values that are read once are written where they are read; the
// others get names: of the buffer they were loaded from, "at" for index
// arithmetic, "t" for the rest. Prefetches and hints of streaming are left out.
#ifndef TILEWRIGHT_BACKENDS_GPU_TEXT_TEXT_H_
#define TILEWRIGHT_BACKENDS_GPU_TEXT_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::gpu_text {

// Without prelude. With `blocks_per_core`, the compiler leaves a core room for
// so many blocks (CUDA alone: HIP counts warps there). Unimplemented names an
// operation that has no text: functions that
// backends/lowering/passes:expand_functions replaces. REQUIRES: verified.
absl::StatusOr<std::string> KernelText(const kernel_ir::ScalarKernel& kernel,
                                       int64_t blocks_per_core = 0);

// ResourceExhausted if the kernel wants more shared memory, more threads or
// wider warps than the GPU has.
absl::Status CheckFits(const kernel_ir::ScalarKernel& kernel,
                       const DeviceSpec& gpu);

// Of each kernel of a module for such a GPU, without prelude. InvalidArgument
// if a name is no identifier or used twice; errors of CheckFits.
absl::StatusOr<std::vector<std::string>> KernelTexts(
    absl::Span<const kernel_ir::ScalarKernel> kernels, const DeviceSpec& gpu);

}  // namespace tilewright::gpu_text

#endif  // TILEWRIGHT_BACKENDS_GPU_TEXT_TEXT_H_
