#include "backends/kernel_ir/divisors.h"

#include <cstdlib>
#include <numeric>
#include <variant>

#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::kernel_ir {
namespace {

// Beyond any vector's size it does not matter.
constexpr int64_t kMost = int64_t{1} << 20;

}  // namespace

Divisors::Divisors(const ScalarKernel& kernel)
    : kernel_(kernel), of_(kernel.regs.size(), 1) {
  Walk(kernel.body);
}

bool Divisors::Divides(int64_t unit, Reg offset,
                       int64_t constant_offset) const {
  return std::gcd(Of(offset), std::abs(constant_offset)) % unit == 0;
}

int64_t Divisors::OfResult(const OpInst& op) const {
  const auto of = [&](size_t i) { return Of(op.operands[i]); };
  switch (op.op) {
    case Op::kMul:
      return std::gcd(of(0), kMost) * std::gcd(of(1), kMost);
    case Op::kAdd:
    case Op::kSub:
    case Op::kMax:
    case Op::kMin:
      return std::gcd(of(0), of(1));
    case Op::kSelect:
      return std::gcd(of(1), of(2));
    case Op::kFloorMod:  // a - b * floor(a / b)
      return std::gcd(of(0), of(1));
    case Op::kCast:
      return of(0);
    default:
      return 1;
  }
}

// In the order of execution: operands before results.
void Divisors::Walk(const std::vector<Inst>& body) {
  for (const Inst& inst : body) {
    if (const auto* n = std::get_if<ConstInst>(&inst.node)) {
      Set(n->dst, std::abs(n->i));
    } else if (const auto* n = std::get_if<CopyInst>(&inst.node)) {
      Set(n->dst, Of(n->source));
    } else if (const auto* n = std::get_if<OpInst>(&inst.node)) {
      const DType operand = kernel_.regs[n->operands.back()].dtype;
      if (IsInteger(operand) && IsInteger(kernel_.regs[n->dst].dtype))
        Set(n->dst, OfResult(*n));
    } else if (const auto* n = std::get_if<ForInst>(&inst.node)) {
      const int64_t begin =
          n->begin == kNoReg ? std::abs(n->constant_begin) : Of(n->begin);
      Set(n->var, std::gcd(begin, n->step));
      Walk(n->body);
    } else if (const auto* n = std::get_if<IfInst>(&inst.node)) {
      Walk(n->then_body);
      Walk(n->else_body);
    }
  }
}

}  // namespace tilewright::kernel_ir
