#include "backends/kernel_ir/verify_copy.h"

#include "absl/strings/str_cat.h"

namespace tilewright::kernel_ir::internal {

std::string FaultOf(const ScalarKernel& kernel, const AsyncCopyInst& copy) {
  const int buffers = static_cast<int>(kernel.buffers.size());
  if (!kernel.has_threads()) return "an asynchronous copy without threads";
  for (const int id : {copy.to, copy.from}) {
    if (id < 0 || id >= buffers)
      return absl::StrCat("buffer ", id, " does not exist");
  }
  const ScalarBuffer &to = kernel.buffers[copy.to],
                     &from = kernel.buffers[copy.from];
  if (from.role != Role::kInput && from.role != Role::kConstant)
    return absl::StrCat("an asynchronous copy of ", from.name,
                        ", which may change");
  if (to.role != Role::kLocal || to.per_thread)
    return absl::StrCat("an asynchronous copy to ", to.name,
                        ", which no block shares");
  if (to.dtype != from.dtype || copy.lanes < 1)
    return absl::StrCat("an asynchronous copy of ", copy.lanes, " elements of ",
                        std::string(Name(from.dtype)), " to ",
                        std::string(Name(to.dtype)));
  if (copy.mask != kNoReg && (kernel.regs[copy.mask].lanes != 1 ||
                              kernel.regs[copy.mask].dtype != DType::kBool))
    return "an asynchronous copy with a mask that is no scalar bool";
  const auto fits = [&](const ScalarBuffer& buffer, Reg offset, int64_t at) {
    return offset != kNoReg || (at >= 0 && at + copy.lanes <= buffer.elements);
  };
  if (!fits(to, copy.to_offset, copy.to_constant) ||
      (copy.mask == kNoReg &&
       !fits(from, copy.from_offset, copy.from_constant)))
    return absl::StrCat("an asynchronous copy outside of ", to.name, " or ",
                        from.name);
  return "";
}

}  // namespace tilewright::kernel_ir::internal
