#include "backends/emulator/codegen/emulator_codegen.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/emulator/codegen/shim_files.h"
#include "backends/emulator/module_abi.h"
#include "backends/gpu_text/kernel_reports.h"
#include "backends/gpu_text/text.h"
#include "backends/lowering/vectorize/gpu_thread.h"
#include "base/status_macros.h"

namespace tilewright::emulator {
namespace {

using ::tilewright::backends::KernelReport;
using ::tilewright::backends::Module;
using ::tilewright::kernel_ir::ScalarKernel;

class EmulatorCodegen : public backends::Codegen {
 public:
  EmulatorCodegen(DeviceSpec spec, EmulatorCodegenOptions options)
      : spec_(std::move(spec)), options_(std::move(options)) {
    spec_.set_target(absl::StrCat(
        kTargetPrefix, std::string(gpu_text::Name(options_.dialect))));
  }

  const DeviceSpec& spec() const override { return spec_; }

  absl::StatusOr<ScalarKernel> Legalize(
      const kernel_ir::Kernel& kernel) const override {
    return lowering::LegalizeForGpuThread(kernel);
  }

  absl::StatusOr<Module> Emit(
      absl::Span<const ScalarKernel> kernels) const override {
    TW_ASSIGN_OR_RETURN(
        const std::string text,
        gpu_text::ModuleText(kernels,
                             spec_.unit().scratchpad_bytes_per_block()));
    // Line numbers are the text's own.
    std::string source = absl::StrCat(
        options_.checked ? "#define TW_CHECKED\n" : "", kBefore,
        gpu_text::Prelude(options_.dialect), "#line 1 \"kernels\"\n", text,
        kBehind, "extern \"C\" const char ", kTextSymbol, "[] = R\"TW(", text,
        ")TW\";\n");
    for (const ScalarKernel& kernel : kernels)
      absl::StrAppend(&source, "TW_RUN(", kernel.name, ")\n");
    HostCompilerOptions compiler = options_.compiler;
    if (options_.checked) {
      compiler.flags.push_back("-fsanitize=signed-integer-overflow");
      compiler.flags.push_back("-fsanitize-undefined-trap-on-error");
    }
    Module module;
    module.target = spec_.target();
    TW_ASSIGN_OR_RETURN(module.bytes, CompileSharedObject(source, compiler));
    module.kernels = gpu_text::KernelReports(kernels, module.bytes);
    return module;
  }

  absl::StatusOr<std::string> Source(
      const ScalarKernel& kernel) const override {
    return gpu_text::KernelText(kernel);
  }

 private:
  DeviceSpec spec_;
  const EmulatorCodegenOptions options_;
};

}  // namespace

std::unique_ptr<backends::Codegen> CreateEmulatorCodegen(
    const DeviceSpec& spec, const EmulatorCodegenOptions& options) {
  return std::make_unique<EmulatorCodegen>(spec, options);
}

}  // namespace tilewright::emulator
