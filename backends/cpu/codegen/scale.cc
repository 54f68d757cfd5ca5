#include "backends/cpu/codegen/scale.h"

#include <algorithm>
#include <numeric>

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

// Of one whole register.
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

// The first lanes of `v`, undefined ones behind its last.
Value* Resized(IRBuilderBase& b, Value* v, unsigned have, unsigned want) {
  if (have == want) return v;
  llvm::SmallVector<int, 64> mask(want, llvm::PoisonMaskElem);
  std::iota(mask.begin(), mask.begin() + std::min(have, want), 0);
  return b.CreateShuffleVector(v, mask);
}

}  // namespace

Value* EmitScale(IRBuilderBase& b, Value* a, Value* n) {
  llvm::Type* const element = a->getType()->getScalarType();
  const unsigned element_bits = element->getScalarSizeInBits();
  if (!a->getType()->isVectorTy()) {
    auto* one = llvm::FixedVectorType::get(element, 1);
    return b.CreateExtractElement(
        EmitScale(b, b.CreateBitCast(a, one), b.CreateBitCast(n, one)),
        uint64_t{0});
  }
  const unsigned lanes =
      llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements();
  const unsigned bits = *std::find_if(
      std::begin(kVectorBits), std::end(kVectorBits) - 1,
      [&](unsigned width) { return width >= lanes * element_bits; });
  const unsigned width = bits / element_bits;  // lanes of one register
  const unsigned all = (lanes + width - 1) / width * width;
  a = Resized(b, a, lanes, all);
  n = Resized(b, n, lanes, all);
  if (all == width) return Resized(b, ScaleRegister(b, a, n), all, lanes);
  auto* type = llvm::FixedVectorType::get(element, width);
  Value* result = llvm::PoisonValue::get(a->getType());
  for (unsigned begin = 0; begin < all; begin += width) {
    Value* at = b.getInt64(begin);
    Value* part = ScaleRegister(b, b.CreateExtractVector(type, a, at),
                                b.CreateExtractVector(type, n, at));
    result = b.CreateInsertVector(result->getType(), result, part, at);
  }
  return Resized(b, result, all, lanes);
}

}  // namespace tilewright::cpu
