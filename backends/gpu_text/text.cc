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

absl::Status CheckFits(const kernel_ir::ScalarKernel& kernel,
                       const DeviceSpec& gpu) {
  const ComputeUnit& unit = gpu.unit();
  if (kernel.scratch_bytes > unit.scratchpad_bytes_per_block()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("kernel ", kernel.name, " wants ", kernel.scratch_bytes,
                     " bytes of shared memory, a block has at most ",
                     unit.scratchpad_bytes_per_block()));
  }
  if (!kernel.has_threads()) return absl::OkStatus();
  if (kernel.threads > unit.max_threads_per_block() ||
      kernel.warp > unit.warp_size()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "kernel ", kernel.name, " wants ", kernel.threads,
        " threads in warps of ", kernel.warp, ", a block has at most ",
        unit.max_threads_per_block(), " in warps of ", unit.warp_size()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> KernelText(const kernel_ir::ScalarKernel& kernel,
                                       int64_t blocks_per_core) {
  return KernelPrinter(kernel, blocks_per_core).Print();
}

absl::StatusOr<std::vector<std::string>> KernelTexts(
    absl::Span<const kernel_ir::ScalarKernel> kernels, const DeviceSpec& gpu) {
  std::set<std::string> names;
  std::vector<std::string> texts;
  for (const kernel_ir::ScalarKernel& kernel : kernels) {
    if (!IsIdentifier(kernel.name) || !names.insert(kernel.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel name '", kernel.name,
                       "' is no identifier or used twice in a module"));
    }
    TW_RETURN_IF_ERROR(CheckFits(kernel, gpu));
    TW_ASSIGN_OR_RETURN(texts.emplace_back(), KernelText(kernel));
  }
  return texts;
}

}  // namespace tilewright::gpu_text
