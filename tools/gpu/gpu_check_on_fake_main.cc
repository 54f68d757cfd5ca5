// gpu_check on the fake driver, for tests: generated kernels are the emulator's
// modules of their CUDA text, those written by hand are references on the host.
// Results are real, times are the fake's.
//
//   gpu_check_on_fake [--sabotage=none|blocks|records] [--family=NAME]
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/codegen.h"
#include "backends/cuda/codegen_for_fake_driver.h"
#include "backends/cuda/device/cuda_device.h"
#include "backends/cuda/device/fake_driver_handle.h"
#include "backends/cuda/device/fake_image.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "base/option_parser.h"
#include "tools/gpu/check_kernels.h"
#include "tools/gpu/gpu_check.h"
#include "tools/gpu/reference_kernels.h"

namespace tilewright::cuda {
namespace {

// Leaves out the last block of every kernel of several.
class WithoutLastBlock : public backends::Codegen {
 public:
  explicit WithoutLastBlock(std::unique_ptr<backends::Codegen> codegen)
      : codegen_(std::move(codegen)) {}
  const DeviceSpec& spec() const override { return codegen_->spec(); }
  absl::StatusOr<kernel_ir::ScalarKernel> Legalize(
      const kernel_ir::Kernel& kernel) const override {
    absl::StatusOr<kernel_ir::ScalarKernel> scalar = codegen_->Legalize(kernel);
    if (scalar.ok() && scalar->num_tasks > 1) --scalar->num_tasks;
    return scalar;
  }
  absl::StatusOr<backends::Module> Emit(
      absl::Span<const kernel_ir::ScalarKernel> kernels) const override {
    return codegen_->Emit(kernels);
  }
  absl::StatusOr<std::string> Source(
      const kernel_ir::ScalarKernel& kernel) const override {
    return codegen_->Source(kernel);
  }

 private:
  const std::unique_ptr<backends::Codegen> codegen_;
};

// The record of the first kernel's fourth launch: after one, a warm-up and a
// sample by events, the first one where records time.
void LoseARecord(const char* name, void* const* buffers, int64_t block) {
  static const std::string first = CheckKernels().front().name;
  static std::atomic<int> launches{0};
  if (name == first && block == 0 && ++launches == 4)
    FailNext(kRecordSymbol, kRecordLost);
  ReferenceKernel(name, buffers, block);
}

GpuCheckParts Parts(const std::string& sabotage) {
  FakeSymbol<FakeCudaSetHostKernel>("FakeCuda_SetHostKernel")(
      sabotage == "records" ? LoseARecord : ReferenceKernel);
  GpuCheckParts parts;
  parts.compiler = "the emulator";
  parts.cublas_library = std::string("./") + kFakeDriver;
  parts.device = [](bool use_profiler) {
    CudaDeviceOptions device;
    device.driver_library = std::string("./") + kFakeDriver;
    device.cupti_library = device.driver_library;
    device.use_profiler = use_profiler;
    return CreateCudaDevice(device);
  };
  parts.codegen = [sabotage](const DeviceSpec& spec)
      -> absl::StatusOr<std::unique_ptr<backends::Codegen>> {
    std::unique_ptr<backends::Codegen> codegen =
        CodegenForFakeDriver(emulator::CreateEmulatorCodegen(spec), spec);
    if (sabotage == "blocks")
      codegen = std::make_unique<WithoutLastBlock>(std::move(codegen));
    return codegen;
  };
  parts.check_module = [](const std::string&) -> absl::StatusOr<std::string> {
    return FakeImage(FakesOfCheckKernels());
  };
  return parts;
}

int Main(int argc, char** argv) {
  GpuCheckOptions options;
  options.samples = 1;  // the emulator takes a millisecond for a block
  options.sizes = CheckSizes::kEmulated;
  options.products = {40};
  options.conformance = false;
  std::string sabotage = "none";
  OptionParser parser;
  parser.Text("sabotage", &sabotage);
  parser.Text("family", &options.family);
  const auto rest =
      parser.Parse(std::vector<std::string>(argv + 1, argv + argc));
  if (!rest.ok()) return ReportStatus("gpu_check_on_fake", rest.status());
  options.modes = sabotage == "none";
  const absl::StatusOr<int> wrong = GpuCheck(options, Parts(sabotage));
  if (wrong.ok()) return *wrong > 0;
  return ReportStatus("gpu_check_on_fake", wrong.status());
}

}  // namespace
}  // namespace tilewright::cuda

int main(int argc, char** argv) { return tilewright::cuda::Main(argc, argv); }
