#include "backends/kernel_ir/instruction_faults.h"

#include "absl/strings/str_cat.h"

namespace tilewright::kernel_ir::internal {
namespace {

// Operands of an operation; 0 if it may not stand in an OpInst.
size_t Arity(Op op) {
  if (op == Op::kConst || op == Op::kVar || op == Op::kLoad) return 0;
  if (op == Op::kSelect) return 3;
  return op >= Op::kAdd ? 2 : 1;
}

std::string Spell(const RegType& type) {
  return absl::StrCat(std::string(Name(type.dtype)), "x", type.lanes);
}

}  // namespace

std::string FaultOf(const ScalarKernel& kernel, const OpInst& inst) {
  const std::string name(Name(inst.op));
  const size_t arity = Arity(inst.op);
  if (arity == 0 || inst.operands.size() != arity)
    return absl::StrCat(name, " with ", inst.operands.size(), " operands");
  const RegType& last = kernel.regs[inst.operands.back()];
  for (size_t i = 0; i < arity; ++i) {
    const RegType& type = kernel.regs[inst.operands[i]];
    const DType want =
        inst.op == Op::kSelect && i == 0 ? DType::kBool : last.dtype;
    if (type.lanes != last.lanes || type.dtype != want)
      return absl::StrCat(name, " of ", Spell(type), " and ", Spell(last));
  }
  const bool logic = inst.op == Op::kNot || inst.op == Op::kAnd ||
                     inst.op == Op::kOr || inst.op == Op::kXor;
  return logic && IsFloat(last.dtype) ? absl::StrCat(name, " of ", Spell(last))
                                      : "";
}

std::string FaultOf(const ScalarKernel& kernel, const PermuteInst& permute) {
  const RegType &source = kernel.regs[permute.source],
                &table = kernel.regs[permute.table];
  const bool fits = source.dtype == DType::kUInt8 &&
                    SizeBytes(table.dtype) == 1 && table.lanes == kPermuteBytes;
  return fits
             ? ""
             : absl::StrCat("permute of ", Spell(table), " by ", Spell(source));
}

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
