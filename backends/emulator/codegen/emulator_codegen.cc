#include "backends/emulator/codegen/emulator_codegen.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/emulator/codegen/shim_files.h"
#include "backends/emulator/module_abi.h"
#include "backends/gpu_text/prelude.h"
#include "backends/gpu_text/text_codegen.h"
#include "base/status_macros.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::emulator {
namespace {

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

DeviceSpec WithTarget(DeviceSpec spec, gpu_text::Dialect dialect) {
  spec.set_target(
      absl::StrCat(kTargetPrefix, std::string(gpu_text::Name(dialect))));
  return spec;
}

class EmulatorCodegen : public gpu_text::TextCodegen {
 public:
  EmulatorCodegen(DeviceSpec spec, EmulatorCodegenOptions options)
      : TextCodegen(WithTarget(std::move(spec), options.dialect)),
        options_(std::move(options)) {}

 protected:
  absl::StatusOr<Compiled> Compile(
      absl::Span<const ScalarKernel> kernels,
      const std::vector<std::string>& texts) const override {
    const std::string text = absl::StrJoin(texts, "\n");
    const bool races =
        options_.checked &&
        std::any_of(kernels.begin(), kernels.end(),
                    [](const auto& k) { return k.has_threads(); });
    const bool counted = options_.counted, views = options_.checked || counted;
    // Line numbers are the text's own.
    std::string source = absl::StrCat(
        views ? "#define TW_CHECKED\n" : "", races ? "#define TW_RACES\n" : "",
        counted ? "#define TW_COUNTED\n" : "", kBefore, kThreads,
        counted ? kCounts : "", races ? kRaces : "", views ? kChecked : "",
        gpu_text::Prelude(options_.dialect),
        counted ? "#define for(...) TW_COUNTED_FOR(__VA_ARGS__)\n" : "",
        "#line 1 \"kernels\"\n", text, counted ? "#undef for\n" : "", kBehind,
        "extern \"C\" const char ", kTextSymbol, "[] = R\"TW(", text,
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
    Compiled compiled;
    TW_ASSIGN_OR_RETURN(compiled.bytes, CompileSharedObject(source, compiler));
    return compiled;
  }

 private:
  const EmulatorCodegenOptions options_;
};

}  // namespace

std::unique_ptr<backends::Codegen> CreateEmulatorCodegen(
    const DeviceSpec& spec, const EmulatorCodegenOptions& options) {
  return std::make_unique<EmulatorCodegen>(spec, options);
}

}  // namespace tilewright::emulator
