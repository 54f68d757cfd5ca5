#include "bench/model/kernel_verifier.h"

#include <memory>
#include <utility>

#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/host_spec.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "measure/verify/device_candidate.h"

namespace tilewright::bench {
namespace {

absl::StatusOr<std::unique_ptr<backends::Device>> GuardedCpu(
    int threads, measure::GuardSide side) {
  cpu::CpuDeviceOptions options;
  options.num_threads = threads;
  options.scratch_guard = side;
  return cpu::CreateCpuDevice(options);
}

}  // namespace

absl::StatusOr<std::vector<VerifiedKernel>> VerifyKernels(
    const std::string& onnx_path, int threads) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, HostSpec());
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<backends::Codegen> codegen,
                      cpu::CreateCpuCodegen(spec));
  TW_ASSIGN_OR_RETURN(const ImportedModel imported, ImportModel(onnx_path));
  TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                      Compile(imported, *codegen, {}));
  std::vector<VerifiedKernel> verified;
  for (size_t k = 0; k < compiled.kernels.size(); ++k) {
    const CompiledKernel& kernel = compiled.kernels[k];
    const int64_t start_ns = RealClock()->WallNs();
    measure::VerifierOptions options;
    options.threads = threads;
    TW_ASSIGN_OR_RETURN(
        const auto verifier,
        measure::Verifier::Create(kernel.workload.workload, options));
    const measure::Candidate candidate = measure::DeviceCandidate(
        GuardedCpu,
        {compiled.module, compiled.program.target(), kernel.scalar.name,
         kernel.scalar.num_tasks, kernel.scalar.scratch_bytes});
    VerifiedKernel result;
    result.name = kernel.scalar.name;
    result.label = compiled.program.kernels(static_cast<int>(k)).label();
    TW_ASSIGN_OR_RETURN(result.verdict,
                        verifier->Check({kernel.arg_tensors, kernel.arg_layouts,
                                         kernel.arg_winograd},
                                        candidate, measure::Isolation::kChild));
    result.seconds =
        static_cast<double>(RealClock()->WallNs() - start_ns) * 1e-9;
    verified.push_back(std::move(result));
  }
  return verified;
}

}  // namespace tilewright::bench
