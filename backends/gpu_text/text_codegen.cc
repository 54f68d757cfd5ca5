#include "backends/gpu_text/text_codegen.h"

#include <cstdint>
#include <string>
#include <vector>

#include "backends/gpu_text/function_code.h"
#include "backends/gpu_text/text.h"
#include "backends/lowering/vectorize/gpu_thread.h"
#include "base/status_macros.h"

namespace tilewright::gpu_text {

using ::tilewright::backends::KernelReport;
using ::tilewright::backends::Module;
using ::tilewright::kernel_ir::ScalarKernel;

absl::StatusOr<ScalarKernel> TextCodegen::Legalize(
    const kernel_ir::Kernel& kernel) const {
  TW_ASSIGN_OR_RETURN(ScalarKernel scalar,
                      lowering::LegalizeForGpuThread(kernel));
  TW_RETURN_IF_ERROR(CheckFits(scalar, spec_));
  return scalar;
}

absl::StatusOr<Module> TextCodegen::Emit(
    absl::Span<const ScalarKernel> kernels) const {
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                      KernelTexts(kernels, spec_));
  TW_ASSIGN_OR_RETURN(Compiled compiled, Compile(kernels, texts));
  const std::map<std::string, std::string_view> functions =
      FunctionCode(compiled.bytes);
  Module module;
  module.target = spec_.target();
  for (const ScalarKernel& kernel : kernels) {
    KernelReport report = compiled.reports[kernel.name];
    report.name = kernel.name;
    const auto found = functions.find(kernel.name);
    if (found != functions.end())
      report.code_bytes = static_cast<int64_t>(found->second.size());
    module.kernels.push_back(std::move(report));
  }
  module.bytes = std::move(compiled.bytes);
  return module;
}

absl::StatusOr<std::string> TextCodegen::Source(
    const ScalarKernel& kernel) const {
  return KernelText(kernel);
}

}  // namespace tilewright::gpu_text
