#include "backends/kernel_ir/analysis/lane_names.h"

#include <variant>
#include <vector>

#include "backends/kernel_ir/operands.h"

namespace tilewright::kernel_ir {

LaneNames::LaneNames(const ScalarKernel& kernel) : kernel_(kernel) {
  for (const RegType& type : kernel.regs) {
    first_.push_back(lanes());
    for (int lane = 0; lane < type.lanes; ++lane) {
      named_.push_back(lanes());
      of_variable_.push_back(type.is_variable);
    }
  }
}

bool LaneNames::OfVariable(Reg reg) const {
  for (int lane = 0; lane < kernel_.regs[reg].lanes; ++lane) {
    const int of = Of(reg, lane);
    if (of != kConstant && of_variable_[of]) return true;
  }
  return false;
}

bool LaneNames::IsConstant(const Inst& inst) const {
  if (std::holds_alternative<ConstInst>(inst.node)) return true;
  const auto* copy = std::get_if<CopyInst>(&inst.node);
  return copy != nullptr && Of(copy->source, 0) == kConstant;
}

bool LaneNames::Add(const Inst& inst) {
  const Reg dst = Sets(inst);
  if (dst == kNoReg || kernel_.regs[dst].is_variable) return false;
  const std::vector<Reg> reads = Reads(inst);
  for (const Reg reg : reads)
    if (OfVariable(reg)) return false;
  const int lanes = kernel_.regs[dst].lanes;
  if (std::holds_alternative<ConstInst>(inst.node)) {
    for (int lane = 0; lane < lanes; ++lane) Name(dst, lane, kConstant);
  } else if (const auto* splat = std::get_if<SplatInst>(&inst.node)) {
    for (int lane = 0; lane < lanes; ++lane)
      Name(dst, lane, Of(splat->source, 0));
  } else if (const auto* one = std::get_if<LaneInst>(&inst.node)) {
    Name(dst, 0, Of(one->source, one->lane));
  } else if (const auto* insert = std::get_if<InsertInst>(&inst.node)) {
    for (int lane = 0; lane < lanes; ++lane)
      Name(dst, lane,
           lane == insert->lane ? Of(insert->value, 0)
                                : Of(insert->source, lane));
  } else if (const auto* shuffle = std::get_if<ShuffleInst>(&inst.node)) {
    const int of_a = kernel_.regs[shuffle->a].lanes;
    for (int lane = 0; lane < lanes; ++lane) {
      const int from = shuffle->lanes[lane];
      Name(dst, lane,
           from < of_a ? Of(shuffle->a, from) : Of(shuffle->b, from - of_a));
    }
  } else if (std::holds_alternative<CopyInst>(inst.node) ||
             std::holds_alternative<BitcastInst>(inst.node)) {
    for (int lane = 0; lane < lanes; ++lane)
      Name(dst, lane, Of(reads[0], lane));
  } else {
    return false;
  }
  return true;
}

}  // namespace tilewright::kernel_ir
