#include "backends/emulator/codegen/emulator_codegen.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/emulator/codegen/shim_files.h"
#include "backends/emulator/module_abi.h"
#include "backends/gpu_text/kernel_reports.h"
#include "backends/gpu_text/text.h"
#include "backends/lowering/vectorize/gpu_thread.h"
#include "base/status_macros.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::emulator {
namespace {

using ::tilewright::backends::KernelReport;
using ::tilewright::backends::Module;
using ::tilewright::kernel_ir::ScalarKernel;

constexpr int64_t kStackBytes = 64 << 10;

// A tw_shape.
std::string Shape(const ScalarKernel& kernel) {
  int64_t own_bytes = 0;
  for (const kernel_ir::ScalarBuffer& buffer : kernel.buffers) {
    if (buffer.per_thread)
      own_bytes += buffer.elements * SizeBytes(buffer.dtype);
  }
  // Calls may make room for a copy, which they do not fill.
  return absl::StrCat(kernel.has_threads() ? kernel.threads : 0, ", ",
                      kernel.warp, ", ", kernel.scratch_bytes, ", ",
                      kStackBytes + 8 * own_bytes);
}

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
    TW_ASSIGN_OR_RETURN(const std::string text,
                        gpu_text::ModuleText(kernels, spec_));
    const bool races = options_.checked &&
                       std::any_of(kernels.begin(), kernels.end(),
                                   [](const auto& k) {
                                     return k.has_threads();
                                   });
    // Line numbers are the text's own.
    std::string source = absl::StrCat(
        options_.checked ? "#define TW_CHECKED\n" : "",
        races ? "#define TW_RACES\n" : "", kBefore, kThreads,
        races ? kRaces : "", options_.checked ? kChecked : "",
        gpu_text::Prelude(options_.dialect), "#line 1 \"kernels\"\n", text,
        kBehind, "extern \"C\" const char ", kTextSymbol, "[] = R\"TW(", text,
        ")TW\";\n");
    for (const ScalarKernel& kernel : kernels)
      absl::StrAppend(&source, "TW_RUN(", kernel.name, ", ", Shape(kernel),
                      ")\n");
    HostCompilerOptions compiler = options_.compiler;
    if (options_.checked) {
      compiler.flags.push_back("-fsanitize=signed-integer-overflow");
      compiler.flags.push_back("-fsanitize-undefined-trap-on-error");
    }
    // Its functions are the shim's.
    if (races) compiler.flags.push_back("-fsanitize=thread");
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
