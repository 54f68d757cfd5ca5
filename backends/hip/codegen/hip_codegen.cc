#include "backends/hip/codegen/hip_codegen.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "backends/gpu_text/prelude.h"
#include "backends/gpu_text/text_codegen.h"
#include "backends/hip/codegen/code_object_notes.h"
#include "backends/hip/hiprtc/hiprtc.h"
#include "base/status_macros.h"

namespace tilewright::hip {
namespace {

using ::tilewright::backends::KernelReport;
using ::tilewright::kernel_ir::ScalarKernel;

constexpr char kPrefix[] = "hip:";

KernelReport ReportOf(const KernelNotes& notes, const ScalarKernel& kernel) {
  KernelReport report;
  report.stack_bytes = notes.private_bytes;
  report.registers = notes.vector_registers;
  // The text declares none: a launch asks for the kernel's scratch.
  report.shared_bytes = notes.shared_bytes + kernel.scratch_bytes;
  report.spills = notes.spilled_registers;
  return report;
}

class HipCodegen : public gpu_text::TextCodegen {
 public:
  HipCodegen(DeviceSpec spec, std::unique_ptr<Hiprtc> hiprtc)
      : TextCodegen(std::move(spec)), hiprtc_(std::move(hiprtc)) {}

 protected:
  absl::StatusOr<Compiled> Compile(
      absl::Span<const ScalarKernel> kernels,
      const std::vector<std::string>& texts) const override {
    Compiled compiled;
    // Line numbers are the text's own.
    TW_ASSIGN_OR_RETURN(
        compiled.bytes,
        hiprtc_->Compile(
            absl::StrCat(gpu_text::Prelude(gpu_text::Dialect::kHip),
                         "#line 1 \"kernels\"\n", absl::StrJoin(texts, "\n")),
            "kernels.hip",
            std::string(absl::StripPrefix(spec().target(), kPrefix))));
    const std::map<std::string, KernelNotes> notes =
        ReadCodeObjectNotes(compiled.bytes);
    for (const ScalarKernel& kernel : kernels) {
      const auto known = notes.find(kernel.name);
      if (known != notes.end())
        compiled.reports[kernel.name] = ReportOf(known->second, kernel);
    }
    return compiled;
  }

 private:
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
