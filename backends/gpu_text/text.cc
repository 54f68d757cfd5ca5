#include "backends/gpu_text/text.h"

#include <cctype>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu_text/kernel_printer.h"
#include "base/status_macros.h"

namespace tilewright::gpu_text {
namespace {

bool IsIdentifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])))
    return false;
  for (const char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::string> KernelText(const kernel_ir::ScalarKernel& kernel) {
  return KernelPrinter(kernel).Print();
}

absl::StatusOr<std::string> ModuleText(
    absl::Span<const kernel_ir::ScalarKernel> kernels, int64_t shared_bytes) {
  std::set<std::string> names;
  std::string text;
  for (const kernel_ir::ScalarKernel& kernel : kernels) {
    if (!IsIdentifier(kernel.name) || !names.insert(kernel.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel name '", kernel.name,
                       "' is no identifier or used twice in a module"));
    }
    if (kernel.scratch_bytes > shared_bytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "kernel ", kernel.name, " wants ", kernel.scratch_bytes,
          " bytes of shared memory, a block has at most ", shared_bytes));
    }
    TW_ASSIGN_OR_RETURN(const std::string one, KernelText(kernel));
    absl::StrAppend(&text, text.empty() ? "" : "\n", one);
  }
  return text;
}

}  // namespace tilewright::gpu_text
