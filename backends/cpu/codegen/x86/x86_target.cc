#include "backends/cpu/codegen/x86/x86_target.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "backends/cpu/codegen/x86/x86_instructions.h"
#include "backends/spec/cpu_features.h"
#include "base/status_macros.h"
#include "llvm/Support/TargetSelect.h"

namespace tilewright::cpu {
namespace {

// Scheduling models by class. The model orders instructions; it never adds a
// feature. For AVX-512 the one of Sapphire Rapids: those of older CPUs order
// the 14x2 register tile so that it spills (assembly_test).
const char* TuneFor(const std::string& cpu_class) {
  if (absl::StartsWith(cpu_class, "x86-64-v4")) return "sapphirerapids";
  if (cpu_class == "x86-64-v3") return "haswell";
  return "sandybridge";
}

void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

bool Has(const std::vector<std::string>& sorted, const std::string& feature) {
  return std::binary_search(sorted.begin(), sorted.end(), feature);
}

}  // namespace

absl::StatusOr<CpuTarget> X86TargetOf(const DeviceSpec& spec) {
  absl::string_view cpu_class = spec.target();
  if (!absl::ConsumePrefix(&cpu_class, "cpu:")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "spec '", spec.name(), "' is for target '", spec.target(),
        "', not for a CPU: expected cpu:", absl::StrJoin(CpuClasses(), "|")));
  }
  CpuTarget target;
  target.cpu_class = std::string(cpu_class);
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> features,
                      CpuClassFeatures(target.cpu_class));
  target.features = absl::StrJoin(
      features, ",",
      [](std::string* out, const std::string& f) { out->append("+" + f); });
  target.tune = TuneFor(target.cpu_class);
  target.triple = "x86_64-unknown-linux-gnu";
  target.cpu = "x86-64";
  target.initialize = InitializeLlvm;
  target.vector_registers = Has(features, "avx512f") ? 32 : 16;
  target.fma = Has(features, "fma");
  target.half_conversions = Has(features, "f16c");
  target.scale = Has(features, "avx512f") && Has(features, "avx512vl");
  target.lookup = Has(features, "avx512f");
  target.permute = Has(features, "avx512vbmi");
  const int widest = Has(features, "avx512f") ? 64
                     : Has(features, "avx2")  ? 32
                                              : 16;
  target.vector_bytes = static_cast<int>(spec.unit().vector_bytes());
  if (target.vector_bytes < 16 || target.vector_bytes > widest) {
    return absl::InvalidArgumentError(absl::StrCat(
        "spec '", spec.name(), "' has vectors of ", target.vector_bytes,
        " bytes; ", target.cpu_class, " has 16 to ", widest));
  }
  X86Features x86;
  x86.vector_bytes = target.vector_bytes;
  x86.range = Has(features, "avx512dq") && Has(features, "avx512vl");
  x86.vnni = Has(features, "avx512vnni") && Has(features, "avx512vl");
  x86.bf16 = Has(features, "avx512bf16") && Has(features, "avx512vl");
  target.instructions = X86Instructions(x86);
  return target;
}

}  // namespace tilewright::cpu
