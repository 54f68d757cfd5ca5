#include "backends/kernel_ir/verify_declarations.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright::kernel_ir::internal {
namespace {

absl::Status Fault(const ScalarKernel& kernel, const std::string& what) {
  return absl::InternalError(
      absl::StrCat("scalar kernel ", kernel.name, ": ", what));
}

absl::Status VerifyBuffers(const ScalarKernel& kernel) {
  bool local = false;
  std::vector<std::pair<int64_t, int64_t>> used;
  for (const ScalarBuffer& b : kernel.buffers) {
    if (b.elements < 0)
      return Fault(kernel, absl::StrCat("buffer ", b.name, " has ", b.elements,
                                        " elements"));
    if (b.per_thread && (b.role != Role::kLocal || !kernel.has_threads()))
      return Fault(kernel, absl::StrCat("buffer ", b.name, " is of no thread"));
    if (b.role != Role::kLocal) {
      if (local)
        return Fault(kernel, absl::StrCat("argument ", b.name,
                                          " stands after scratch buffers"));
      continue;
    }
    local = true;
    if (b.per_thread) continue;
    const int64_t end =
        b.scratch_offset_bytes + b.elements * SizeBytes(b.dtype);
    if (b.scratch_offset_bytes < 0 || b.scratch_offset_bytes % 64 != 0 ||
        end > kernel.scratch_bytes) {
      return Fault(kernel,
                   absl::StrCat("scratch buffer ", b.name, " at ",
                                b.scratch_offset_bytes, "..", end,
                                " does not fit the arena of ",
                                kernel.scratch_bytes,
                                " bytes or its alignment of 64"));
    }
    for (const auto& [lo, hi] : used) {
      if (b.scratch_offset_bytes < hi && lo < end)
        return Fault(kernel, absl::StrCat("scratch buffer ", b.name,
                                          " overlaps another"));
    }
    used.push_back({b.scratch_offset_bytes, end});
  }
  return absl::OkStatus();
}

absl::Status VerifyThreads(const ScalarKernel& kernel) {
  if (!kernel.has_threads()) {
    return kernel.threads == 1
               ? absl::OkStatus()
               : Fault(kernel, "threads without a register for their number");
  }
  const bool warps = kernel.warp > 0 && (kernel.warp & (kernel.warp - 1)) == 0;
  if (warps && kernel.threads > 0) return absl::OkStatus();
  return Fault(kernel, absl::StrCat(kernel.threads, " threads in warps of ",
                                    kernel.warp));
}

}  // namespace

absl::Status VerifyDeclarations(const ScalarKernel& kernel) {
  TW_RETURN_IF_ERROR(VerifyBuffers(kernel));
  TW_RETURN_IF_ERROR(VerifyThreads(kernel));
  for (size_t i = 0; i < kernel.regs.size(); ++i) {
    const RegType& type = kernel.regs[i];
    if (type.lanes < 1)
      return Fault(kernel, absl::StrCat("register ", i, " has ", type.lanes,
                                        " lanes"));
    if (RegisterType(type.dtype) != type.dtype) {
      return Fault(kernel,
                   absl::StrCat("register ", i, " is ",
                                std::string(Name(type.dtype)),
                                ": fp16 and bf16 are storage only, use f32"));
    }
  }
  if (kernel.num_tasks < 0)
    return Fault(kernel, "a negative number of tasks");
  return absl::OkStatus();
}

}  // namespace tilewright::kernel_ir::internal
