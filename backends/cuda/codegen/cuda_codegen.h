// NVIDIA's code half: GPU text through NVRTC. Needs no GPU; the device half is
// backends/cuda/device.
#ifndef TILEWRIGHT_BACKENDS_CUDA_CODEGEN_CUDA_CODEGEN_H_
#define TILEWRIGHT_BACKENDS_CUDA_CODEGEN_CUDA_CODEGEN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::cuda {

// For the architecture that spec.target() names ("cuda:sm_90a"). Modules are
// archives of cubins, one of each kernel under its name. A kernel that spills
// registers is compiled again, with room left for the blocks that are resident
// (launch_bounds.h). Emit fails with ResourceExhausted if a kernel wants more
// shared memory than spec.unit() has. InvalidArgument if the spec is for no
// NVIDIA GPU; FailedPrecondition if NVRTC is not there (from `nvrtc_library`,
// or its usual places) or does not know the architecture.
absl::StatusOr<std::unique_ptr<backends::Codegen>> CreateCudaCodegen(
    const DeviceSpec& spec, const std::string& nvrtc_library = "");

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_CODEGEN_CUDA_CODEGEN_H_
