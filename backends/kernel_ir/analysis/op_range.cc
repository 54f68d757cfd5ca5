#include "backends/kernel_ir/analysis/op_range.h"

#include <cstddef>
#include <cstdint>

namespace tilewright::kernel_ir {
namespace {

constexpr int64_t kMostXor = int64_t{1} << 62;

}  // namespace

Interval RangeOfOp(Op op, absl::Span<const Interval> operands) {
  const auto range = [&](size_t i) { return operands[i]; };
  switch (op) {
    case Op::kAdd:
      return range(0) + range(1);
    case Op::kSub:
      return range(0) + Interval::Point(-1) * range(1);
    case Op::kMul:
      return range(0) * range(1);
    case Op::kDiv:
      if (range(0).lo < 0) return {};
      [[fallthrough]];
    case Op::kFloorDiv:
      if (range(1).lo < 1 || range(1).lo != range(1).hi) return {};
      return range(0).FloorDivBy(range(1).lo);
    case Op::kFloorMod:
      if (range(1).lo < 1 || range(1).lo != range(1).hi) return {};
      return range(0).FloorModBy(range(1).lo);
    case Op::kMax:
      return Interval::Max(range(0), range(1));
    case Op::kMin:
      return Interval::Min(range(0), range(1));
    case Op::kSelect:
      return Interval::Hull(range(1), range(2));
    case Op::kCast:
      return range(0);
    case Op::kXor: {
      if (!range(0).Within(0, kMostXor) || !range(1).Within(0, kMostXor))
        return {};
      int64_t all = range(0).hi | range(1).hi;
      for (int shift = 1; shift < 64; shift *= 2) all |= all >> shift;
      return {0, all};
    }
    default:
      return {};
  }
}

}  // namespace tilewright::kernel_ir
