#include "backends/emulator/run_kernel.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "base/status_macros.h"

namespace tilewright::emulator {

absl::StatusOr<std::vector<std::string>> RunKernel(
    backends::Device& device, const backends::DeviceModule& module,
    const kernel_ir::ScalarKernel& kernel, std::vector<std::string> args) {
  TW_ASSIGN_OR_RETURN(const auto resolved,
                      device.GetKernel(module, kernel.name));
  TW_ASSIGN_OR_RETURN(const auto stream, device.CreateStream());
  std::vector<std::unique_ptr<backends::DeviceBuffer>> buffers;
  std::vector<void*> addresses;
  for (const std::string& arg : args) {
    const auto size = static_cast<int64_t>(arg.size());
    TW_ASSIGN_OR_RETURN(auto buffer, device.Allocate(size));
    TW_RETURN_IF_ERROR(stream->Copy(buffer->address(), arg.data(), size));
    addresses.push_back(buffer->address());
    buffers.push_back(std::move(buffer));
  }
  TW_RETURN_IF_ERROR(stream->Launch(*resolved, addresses, kernel.num_tasks,
                                    kernel.scratch_bytes));
  for (size_t i = 0; i < args.size(); ++i) {
    TW_RETURN_IF_ERROR(stream->Copy(&args[i][0], buffers[i]->address(),
                                    static_cast<int64_t>(args[i].size())));
  }
  TW_RETURN_IF_ERROR(stream->Synchronize());
  return args;
}

}  // namespace tilewright::emulator
