#include "backends/hip/codegen/hip_codegen.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/gpu_text/kernel_reports.h"
#include "backends/gpu_text/prelude.h"
#include "backends/gpu_text/text.h"
#include "backends/hip/hiprtc/hiprtc.h"
#include "backends/lowering/vectorize/gpu_thread.h"
#include "base/status_macros.h"

namespace tilewright::hip {
namespace {

using ::tilewright::backends::KernelReport;
using ::tilewright::backends::Module;
using ::tilewright::kernel_ir::ScalarKernel;

constexpr char kPrefix[] = "hip:";

class HipCodegen : public backends::Codegen {
 public:
  HipCodegen(DeviceSpec spec, std::unique_ptr<Hiprtc> hiprtc)
      : spec_(std::move(spec)), hiprtc_(std::move(hiprtc)) {}

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
        module.bytes,
        hiprtc_->Compile(
            absl::StrCat(gpu_text::Prelude(gpu_text::Dialect::kHip),
                         "#line 1 \"kernels\"\n", text),
            "kernels.hip",
            std::string(absl::StripPrefix(spec_.target(), kPrefix))));
    module.kernels = gpu_text::KernelReports(kernels, module.bytes);
    return module;
  }

  absl::StatusOr<std::string> Source(
      const ScalarKernel& kernel) const override {
    return gpu_text::KernelText(kernel);
  }

 private:
  const DeviceSpec spec_;
  const std::unique_ptr<Hiprtc> hiprtc_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<backends::Codegen>> CreateHipCodegen(
    const DeviceSpec& spec, const std::string& hiprtc_library) {
  if (spec.target().rfind(kPrefix, 0) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        spec.name(), " is for ", spec.target(), ", not for a GPU of AMD's"));
  }
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Hiprtc> hiprtc,
                      Hiprtc::Open(hiprtc_library));
  return std::make_unique<HipCodegen>(spec, std::move(hiprtc));
}

}  // namespace tilewright::hip
