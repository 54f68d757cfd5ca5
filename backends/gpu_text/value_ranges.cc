#include "backends/gpu_text/value_ranges.h"

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "backends/kernel_ir/analysis/op_range.h"

namespace tilewright::gpu_text {

using namespace kernel_ir;  // NOLINT: its instructions are what is looked at

namespace {

// Every value of the dtype; of 64 bits nothing is known.
Interval All(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return {0, 1};
    case DType::kInt8:
      return {INT8_MIN, INT8_MAX};
    case DType::kInt16:
      return {INT16_MIN, INT16_MAX};
    case DType::kInt32:
      return {INT32_MIN, INT32_MAX};
    case DType::kUInt8:
      return {0, UINT8_MAX};
    case DType::kUInt16:
      return {0, UINT16_MAX};
    case DType::kUInt32:
      return {0, UINT32_MAX};
    default:
      return {};
  }
}

}  // namespace

bool ValueRanges::Fits(const Interval& range, DType dtype) {
  if (!range.bounded()) return false;
  if (dtype == DType::kUInt64) return range.lo >= 0;
  const Interval all = All(dtype);
  return range.Within(all.lo, all.hi);
}

ValueRanges::ValueRanges(const ScalarKernel& kernel) : kernel_(kernel) {
  for (const RegType& type : kernel.regs) {
    ranges_.push_back(IsFloat(type.dtype) ? Interval{} : All(type.dtype));
  }
  ranges_[kernel.task] = {0, std::max<int64_t>(kernel.num_tasks - 1, 0)};
  if (kernel.has_threads())
    ranges_[kernel.thread] = {0, std::max(kernel.threads - 1, 0)};
  Walk(kernel.body);
}

Interval ValueRanges::Exact(const OpInst& op) const {
  std::vector<Interval> operands;
  for (const Reg reg : op.operands) operands.push_back(ranges_[reg]);
  return RangeOfOp(op.op, operands);
}

void ValueRanges::Walk(const std::vector<Inst>& body) {
  const auto known = [&](Reg reg) {
    return !kernel_.regs[reg].is_variable && !IsFloat(kernel_.regs[reg].dtype);
  };
  for (const Inst& inst : body) {
    if (const auto* op = std::get_if<OpInst>(&inst.node)) {
      if (!known(op->dst)) continue;
      const bool of_integers =
          !IsFloat(kernel_.regs[op->operands.back()].dtype);
      const Interval exact = of_integers ? Exact(*op) : Interval{};
      const bool in_range = op->op == Op::kMax || op->op == Op::kMin ||
                            op->op == Op::kSelect ||
                            Fits(exact, kernel_.regs[op->dst].dtype);
      if (in_range) ranges_[op->dst] = exact;
    } else if (const auto* constant = std::get_if<ConstInst>(&inst.node)) {
      const Interval point = Interval::Point(constant->i);
      if (known(constant->dst) &&
          Fits(point, kernel_.regs[constant->dst].dtype))
        ranges_[constant->dst] = point;
    } else if (const auto* splat = std::get_if<SplatInst>(&inst.node)) {
      if (known(splat->dst)) ranges_[splat->dst] = ranges_[splat->source];
    } else if (const auto* loop = std::get_if<ForInst>(&inst.node)) {
      const Interval begin = loop->begin == kNoReg
                                 ? Interval::Point(loop->constant_begin)
                                 : ranges_[loop->begin];
      const Interval end = loop->end == kNoReg
                               ? Interval::Point(loop->constant_end)
                               : ranges_[loop->end];
      if (begin.bounded() && end.bounded())
        ranges_[loop->var] = {begin.lo, std::max(begin.lo, end.hi - 1)};
      Walk(loop->body);
    } else if (const auto* branch = std::get_if<IfInst>(&inst.node)) {
      Walk(branch->then_body);
      Walk(branch->else_body);
    }
  }
}

}  // namespace tilewright::gpu_text
