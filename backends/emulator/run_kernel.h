// Runs a kernel of a loaded module on a device, for tests.
#ifndef TILEWRIGHT_BACKENDS_EMULATOR_RUN_KERNEL_H_
#define TILEWRIGHT_BACKENDS_EMULATOR_RUN_KERNEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::emulator {

// The bytes of the arguments after a run of all tasks; before it they hold
// `args`. Errors are the device's.
absl::StatusOr<std::vector<std::string>> RunKernel(
    backends::Device& device, const backends::DeviceModule& module,
    const kernel_ir::ScalarKernel& kernel, std::vector<std::string> args);

}  // namespace tilewright::emulator

#endif  // TILEWRIGHT_BACKENDS_EMULATOR_RUN_KERNEL_H_
