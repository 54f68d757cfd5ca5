// The backends that the command line offers, by target.
#ifndef TILEWRIGHT_TOOLS_BACKENDS_H_
#define TILEWRIGHT_TOOLS_BACKENDS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/device.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::tools {

// The value of --target that stands for the NVIDIA GPU of this machine.
inline constexpr char kPresentGpu[] = "cuda";
// The values of --target beside the CPU's: that, "emulator:cuda",
// "emulator:hip" and the targets of the GPUs that specs are committed of.
std::vector<std::string> GpuTargets();
// The spec of one of these; FailedPrecondition says what is missing for the GPU
// of this machine. The emulator's specs are of the H100 and the MI210.
absl::StatusOr<DeviceSpec> GpuSpec(const std::string& target);

// By spec.target(). Errors as of the generators.
absl::StatusOr<std::unique_ptr<backends::Codegen>> CodegenFor(
    const DeviceSpec& spec);

// A device that runs modules for `target`.
absl::StatusOr<std::shared_ptr<backends::Device>> DeviceFor(
    const std::string& target, const cpu::CpuDeviceOptions& of_cpu);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_BACKENDS_H_
