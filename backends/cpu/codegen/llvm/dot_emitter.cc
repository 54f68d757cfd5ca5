#include "backends/cpu/codegen/llvm/dot_emitter.h"

#include <vector>

#include "backends/cpu/codegen/llvm/by_register.h"
#include "backends/cpu/codegen/llvm/convert.h"

namespace tilewright::cpu {
namespace {

using ::llvm::IRBuilderBase;
using ::llvm::Type;
using ::llvm::Value;

// Term after term.
Value* EmitTerms(IRBuilderBase& b, const CpuTarget& target,
                 const DotIntrinsic& dot, Value* acc, Value* x, Value* y) {
  const int lanes = LanesOf(acc);
  const auto widen = [&](Value* value, DType from) {
    if (IsFloat(dot.acc)) return FromMemory(b, target, from, value);
    Type* to = WithLanesOf(b.getInt32Ty(), value->getType());
    return b.CreateIntCast(value, to, !IsUnsigned(from));
  };
  for (int g = 0; g < dot.group; ++g) {
    std::vector<int> own(lanes);
    for (int i = 0; i < lanes; ++i) own[i] = i * dot.group + g;
    Value* w = lanes == 1 ? b.CreateExtractElement(y, g)
                          : b.CreateShuffleVector(y, own);
    Value* a = widen(b.CreateExtractElement(x, g), dot.a);
    if (lanes > 1) a = b.CreateVectorSplat(lanes, a);
    w = widen(w, dot.b);
    if (!IsFloat(dot.acc)) {
      acc = b.CreateAdd(acc, b.CreateMul(a, w));
    } else if (target.fma) {
      acc = b.CreateIntrinsic(llvm::Intrinsic::fma, {acc->getType()},
                              {a, w, acc});
    } else {
      acc = b.CreateFAdd(acc, b.CreateFMul(a, w));
    }
  }
  return acc;
}

}  // namespace

Value* EmitDot(IRBuilderBase& b, const CpuTarget& target,
               const DotIntrinsic& dot, Value* acc, Value* x, Value* y) {
  if (Value* done = target.instructions->Dot(b, dot, acc, x, y)) return done;
  return EmitTerms(b, target, dot, acc, x, y);
}

}  // namespace tilewright::cpu
