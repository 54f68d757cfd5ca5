// The report of inspect on a model planned for a GPU: no backend and no device
// is needed for that.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_GPU_REPORT_H_
#define TILEWRIGHT_TOOLS_COMMANDS_GPU_REPORT_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tools/commands/command_line.h"

namespace tilewright::tools {

// The spec that --spec names, if it is of a GPU.
std::optional<DeviceSpec> GpuSpecFrom(const CommandLine& line);

// Bad usage names the first flag that has no effect on a plan for a GPU.
absl::Status CheckGpuFlags(const CommandLine& line);

// The kernels of the .onnx at `path` on that GPU, as PlanGpuKernels makes them,
// or --what=why;
// --connect=register leaves groups apart, --connect=none operators.
absl::StatusOr<std::string> GpuPlanText(const CommandLine& line,
                                        const std::string& path,
                                        const DeviceSpec& spec);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_GPU_REPORT_H_
