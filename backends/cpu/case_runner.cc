#include "backends/cpu/case_runner.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/guarded_buffer.h"
#include "backends/spec/host_spec.h"
#include "base/status_macros.h"

namespace tilewright::cpu {

using backends::GuardedBuffer;
using lowering::RandomCase;

absl::StatusOr<CaseRunner> CaseRunner::Create() {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, HostSpec());
  CaseRunner runner;
  TW_ASSIGN_OR_RETURN(runner.codegen_, CreateCpuCodegen(spec));
  TW_ASSIGN_OR_RETURN(runner.device_, CreateCpuDevice({.num_threads = 1}));
  TW_ASSIGN_OR_RETURN(runner.stream_, runner.device_->CreateStream());
  return runner;
}

absl::Status CaseRunner::RunBatch(std::vector<RandomCase> cases) {
  std::vector<kernel_ir::ScalarKernel> kernels;
  for (RandomCase& drawn : cases) {
    drawn.kernel.name = absl::StrCat("k", drawn.seed);
    TW_ASSIGN_OR_RETURN(kernel_ir::ScalarKernel kernel,
                        codegen_->Legalize(drawn.kernel));
    kernels.push_back(std::move(kernel));
  }
  TW_ASSIGN_OR_RETURN(const backends::Module module, codegen_->Emit(kernels));
  TW_ASSIGN_OR_RETURN(const auto loaded,
                      device_->LoadModule(module.bytes, module.target));
  for (size_t i = 0; i < cases.size(); ++i) {
    const absl::Status status = RunCase(cases[i], kernels[i], *loaded);
    if (!status.ok())
      return absl::Status(
          status.code(),
          absl::StrCat("seed ", cases[i].seed, ": ", status.message(), "\n",
                       cases[i].ToString()));
  }
  return absl::OkStatus();
}

absl::Status CaseRunner::RunCase(const RandomCase& drawn,
                                 const kernel_ir::ScalarKernel& kernel,
                                 const backends::DeviceModule& module) {
  TW_ASSIGN_OR_RETURN(const auto resolved,
                      device_->GetKernel(module, kernel.name));
  const auto side = drawn.seed % 4 < 2 ? GuardedBuffer::Side::kEnd
                                       : GuardedBuffer::Side::kBegin;
  std::vector<GuardedBuffer> buffers;
  std::vector<void*> addresses;
  for (const std::string& arg : drawn.args) {
    TW_ASSIGN_OR_RETURN(
        GuardedBuffer buffer,
        GuardedBuffer::Create(static_cast<int64_t>(arg.size()), side));
    std::copy(arg.begin(), arg.end(), buffer.data());
    addresses.push_back(buffer.data());
    buffers.push_back(std::move(buffer));
  }
  TW_RETURN_IF_ERROR(backends::TrapFaults([&] {
    return stream_->Launch(*resolved, addresses, kernel.num_tasks,
                           kernel.scratch_bytes);
  }));
  TW_RETURN_IF_ERROR(stream_->Synchronize());
  std::vector<std::string> results;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].SlackIntact())
      return absl::OutOfRangeError(
          absl::StrCat("something was written beside argument ", i));
    results.emplace_back(buffers[i].data(), drawn.args[i].size());
  }
  return lowering::CheckResults(drawn, results);
}

}  // namespace tilewright::cpu
