#include "backends/cpu/codegen/x86/permute.h"

#include <array>
#include <numeric>

#include "backends/cpu/codegen/llvm/by_register.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tilewright::cpu {

using ::llvm::Value;

namespace {

constexpr int kLanes = 64;  // of a register

}  // namespace

Value* EmitPermute(llvm::IRBuilderBase& b, Value* source, Value* table) {
  std::array<Value*, 4> quarters;
  for (int i = 0; i < 4; ++i) {
    std::array<int, kLanes> lanes;
    std::iota(lanes.begin(), lanes.end(), i * kLanes);
    quarters[i] = b.CreateShuffleVector(table, lanes);
  }
  return ByRegister(b, kLanes, {source}, [&](llvm::ArrayRef<Value*> part) {
    Value* const byte = part[0];
    const auto half = [&](int first) {
      return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512,
                               {},
                               {quarters[first], byte, quarters[first + 1]});
    };
    Value* const upper =
        b.CreateICmpSLT(byte, llvm::Constant::getNullValue(byte->getType()));
    return b.CreateSelect(upper, half(2), half(0));
  });
}

}  // namespace tilewright::cpu
