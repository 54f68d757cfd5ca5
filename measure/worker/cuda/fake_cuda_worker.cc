#include "measure/worker/cuda/fake_cuda_worker.h"

#include <unistd.h>

#include <utility>

#include "absl/types/span.h"
#include "backends/cuda/codegen_for_fake_driver.h"
#include "backends/cuda/device/fake_driver_handle.h"
#include "backends/cuda/device/fake_image.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "base/status_macros.h"
#include "measure/worker/cuda/cuda_worker.h"

namespace tilewright::cuda {
namespace {

// Replaces kernels of `blocks` blocks by one that faults.
class Faulting : public backends::Codegen {
 public:
  Faulting(std::unique_ptr<backends::Codegen> codegen, int64_t blocks)
      : codegen_(std::move(codegen)), blocks_(blocks) {}
  const DeviceSpec& spec() const override { return codegen_->spec(); }
  absl::StatusOr<kernel_ir::ScalarKernel> Legalize(
      const kernel_ir::Kernel& kernel) const override {
    return codegen_->Legalize(kernel);
  }
  absl::StatusOr<backends::Module> Emit(
      absl::Span<const kernel_ir::ScalarKernel> kernels) const override {
    TW_ASSIGN_OR_RETURN(backends::Module module, codegen_->Emit(kernels));
    if (kernels[0].num_tasks == blocks_)
      module.bytes =
          FakeImage({{kernels[0].name + "=fake_fault", 0, kernels[0].threads}});
    return module;
  }
  absl::StatusOr<std::string> Source(
      const kernel_ir::ScalarKernel& kernel) const override {
    return codegen_->Source(kernel);
  }

 private:
  const std::unique_ptr<backends::Codegen> codegen_;
  const int64_t blocks_;
};

}  // namespace

std::unique_ptr<backends::Codegen> FakeCudaCodegen(const DeviceSpec& spec) {
  return CodegenForFakeDriver(emulator::CreateEmulatorCodegen(spec), spec);
}

absl::StatusOr<std::unique_ptr<CudaDevice>> CreateFakeCudaDevice() {
  CudaDeviceOptions options;
  options.driver_library = std::string("./") + kFakeDriver;
  options.cupti_library = options.driver_library;
  return CreateCudaDevice(options);
}

measure::WorkerBackend FakeCudaWorker(const FakeCudaFaults& faults) {
  CudaWorkerParts parts;
  parts.codegen = [blocks = faults.faulting_blocks](const DeviceSpec& spec)
      -> absl::StatusOr<std::unique_ptr<backends::Codegen>> {
    return std::make_unique<Faulting>(FakeCudaCodegen(spec), blocks);
  };
  parts.device = [lose_a_record = faults.lose_a_record](const DeviceSpec&)
      -> absl::StatusOr<std::unique_ptr<backends::Device>> {
    if (!lose_a_record.empty() && unlink(lose_a_record.c_str()) == 0)
      FailNext(kRecordSymbol, kRecordLost);
    return CreateFakeCudaDevice();
  };
  return CudaWorker(parts);
}

}  // namespace tilewright::cuda
