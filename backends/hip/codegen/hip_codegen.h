// AMD's code half: GPU text through HIPRTC. Needs no GPU; there is no device
// half yet.
#ifndef TILEWRIGHT_BACKENDS_HIP_CODEGEN_HIP_CODEGEN_H_
#define TILEWRIGHT_BACKENDS_HIP_CODEGEN_HIP_CODEGEN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::hip {

// For the architecture that spec.target() names ("hip:gfx90a"). Modules are
// code objects; Emit fails with ResourceExhausted if a kernel wants more shared
// memory than spec.unit() has. InvalidArgument if the spec is for no GPU of
// AMD's; FailedPrecondition if HIPRTC is not there (from `hiprtc_library`, or
// its usual places), from Emit if it does not know the architecture.
absl::StatusOr<std::unique_ptr<backends::Codegen>> CreateHipCodegen(
    const DeviceSpec& spec, const std::string& hiprtc_library = "");

}  // namespace tilewright::hip

#endif  // TILEWRIGHT_BACKENDS_HIP_CODEGEN_HIP_CODEGEN_H_
