#include "backends/cuda/codegen/cuda_codegen.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/cuda/nvrtc/ptxas_log.h"
#include "backends/gpu_text/kernel_reports.h"
#include "backends/gpu_text/prelude.h"
#include "backends/gpu_text/text.h"
#include "backends/lowering/vectorize/gpu_thread.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

using ::tilewright::backends::KernelReport;
using ::tilewright::backends::Module;
using ::tilewright::kernel_ir::ScalarKernel;

constexpr char kPrefix[] = "cuda:";

constexpr int64_t kRegisterBytes = 4;

void Add(const KernelResources& resources, const ScalarKernel& kernel,
         KernelReport& report) {
  report.stack_bytes = resources.stack_bytes;
  report.registers = resources.registers;
  // The text declares none: a launch asks for the kernel's scratch.
  report.shared_bytes = resources.shared_bytes + kernel.scratch_bytes;
  report.spill_bytes = resources.spill_store_bytes + resources.spill_load_bytes;
  report.spills = static_cast<int>(*report.spill_bytes / kRegisterBytes);
}

class CudaCodegen : public backends::Codegen {
 public:
  CudaCodegen(DeviceSpec spec, std::unique_ptr<Nvrtc> nvrtc)
      : spec_(std::move(spec)), nvrtc_(std::move(nvrtc)) {}

  const DeviceSpec& spec() const override { return spec_; }

  absl::StatusOr<ScalarKernel> Legalize(
      const kernel_ir::Kernel& kernel) const override {
    return lowering::LegalizeForGpuThread(kernel);
  }

  absl::StatusOr<Module> Emit(
      absl::Span<const ScalarKernel> kernels) const override {
    TW_ASSIGN_OR_RETURN(const std::string text,
                        gpu_text::ModuleText(kernels, spec_));
    Module module;
    module.target = spec_.target();
    // Line numbers are the text's own.
    TW_ASSIGN_OR_RETURN(
        Cubin cubin,
        nvrtc_->Compile(
            absl::StrCat(gpu_text::Prelude(gpu_text::Dialect::kCuda),
                         "#line 1 \"kernels\"\n", text),
            "kernels.cu",
            std::string(absl::StripPrefix(spec_.target(), kPrefix))));
    module.bytes = std::move(cubin.bytes);
    module.kernels = gpu_text::KernelReports(kernels, module.bytes);
    for (size_t i = 0; i < kernels.size(); ++i) {
      const auto known = cubin.kernels.find(kernels[i].name);
      if (known != cubin.kernels.end())
        Add(known->second, kernels[i], module.kernels[i]);
    }
    return module;
  }

  absl::StatusOr<std::string> Source(
      const ScalarKernel& kernel) const override {
    return gpu_text::KernelText(kernel);
  }

 private:
  const DeviceSpec spec_;
  const std::unique_ptr<Nvrtc> nvrtc_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<backends::Codegen>> CreateCudaCodegen(
    const DeviceSpec& spec, const std::string& nvrtc_library) {
  if (spec.target().rfind(kPrefix, 0) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        spec.name(), " is for ", spec.target(), ", not for an NVIDIA GPU"));
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Nvrtc> nvrtc, Nvrtc::Open(nvrtc_library));
  return std::make_unique<CudaCodegen>(spec, std::move(nvrtc));
}

}  // namespace tilewright::cuda
