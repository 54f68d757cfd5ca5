#include "backends/cpu/codegen/x86/scale.h"

#include <algorithm>
#include <iterator>

#include "backends/cpu/codegen/llvm/by_register.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tilewright::cpu {
namespace {

using ::llvm::IRBuilderBase;
using ::llvm::Value;

constexpr unsigned kVectorBits[] = {128, 256, 512};  // of one register

llvm::Intrinsic::ID IntrinsicOf(unsigned bits, bool is_double) {
  switch (bits) {
    case 128:
      return is_double ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_128
                       : llvm::Intrinsic::x86_avx512_mask_scalef_ps_128;
    case 256:
      return is_double ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_256
                       : llvm::Intrinsic::x86_avx512_mask_scalef_ps_256;
    default:
      return is_double ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_512
                       : llvm::Intrinsic::x86_avx512_mask_scalef_ps_512;
  }
}

// Scales one whole register.
Value* ScaleRegister(IRBuilderBase& b, Value* a, Value* n) {
  auto* type = llvm::cast<llvm::FixedVectorType>(a->getType());
  const unsigned lanes = type->getNumElements();
  const unsigned bits = lanes * type->getScalarSizeInBits();
  llvm::SmallVector<Value*, 5> arguments = {
      a, n, llvm::Constant::getNullValue(type),
      llvm::Constant::getAllOnesValue(b.getIntNTy(lanes > 8 ? 16 : 8))};
  constexpr int kCurrentRounding = 4;
  if (bits == 512) arguments.push_back(b.getInt32(kCurrentRounding));
  return b.CreateIntrinsic(
      IntrinsicOf(bits, type->getElementType()->isDoubleTy()), {}, arguments);
}

}  // namespace

Value* EmitScale(IRBuilderBase& b, Value* a, Value* n) {
  llvm::Type* const type = a->getType();
  const unsigned element_bits = type->getScalarSizeInBits();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const unsigned lanes = vector == nullptr ? 1 : vector->getNumElements();
  const unsigned bits = *std::find_if(
      std::begin(kVectorBits), std::end(kVectorBits) - 1,
      [&](unsigned width) { return width >= lanes * element_bits; });
  return ByRegister(b, bits / element_bits, {a, n},
                    [&](llvm::ArrayRef<Value*> part) {
                      return ScaleRegister(b, part[0], part[1]);
                    });
}

}  // namespace tilewright::cpu
