#include "backends/cuda/codegen/cuda_codegen.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/cuda/nvrtc/ptxas_log.h"
#include "backends/gpu_text/prelude.h"
#include "backends/gpu_text/text_codegen.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

using ::tilewright::backends::KernelReport;
using ::tilewright::kernel_ir::ScalarKernel;

constexpr char kPrefix[] = "cuda:";
constexpr int64_t kRegisterBytes = 4;

KernelReport ReportOf(const KernelResources& resources,
                      const ScalarKernel& kernel) {
  KernelReport report;
  report.stack_bytes = resources.stack_bytes;
  report.registers = resources.registers;
  // The text declares none: a launch asks for the kernel's scratch.
  report.shared_bytes = resources.shared_bytes + kernel.scratch_bytes;
  report.spill_bytes = resources.spill_store_bytes + resources.spill_load_bytes;
  report.spills = static_cast<int>(*report.spill_bytes / kRegisterBytes);
  return report;
}

class CudaCodegen : public gpu_text::TextCodegen {
 public:
  CudaCodegen(DeviceSpec spec, std::unique_ptr<Nvrtc> nvrtc)
      : TextCodegen(std::move(spec)), nvrtc_(std::move(nvrtc)) {}

 protected:
  absl::StatusOr<Compiled> Compile(absl::Span<const ScalarKernel> kernels,
                                   const std::string& text) const override {
    // Line numbers are the text's own.
    TW_ASSIGN_OR_RETURN(
        Cubin cubin,
        nvrtc_->Compile(
            absl::StrCat(gpu_text::Prelude(gpu_text::Dialect::kCuda),
                         "#line 1 \"kernels\"\n", text),
            "kernels.cu",
            std::string(absl::StripPrefix(spec().target(), kPrefix))));
    Compiled compiled;
    compiled.bytes = std::move(cubin.bytes);
    for (const ScalarKernel& kernel : kernels) {
      const auto known = cubin.kernels.find(kernel.name);
      if (known != cubin.kernels.end())
        compiled.reports[kernel.name] = ReportOf(known->second, kernel);
    }
    return compiled;
  }

 private:
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
