#include "backends/cpu/codegen/x86/extreme.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tilewright::cpu {
namespace {

using ::llvm::IRBuilderBase;
using ::llvm::Value;

// The constant in every lane, or null.
const llvm::ConstantFP* UniformConstant(Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant == nullptr) return nullptr;
  if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  return llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
}

bool IsPositiveZero(Value* value) {
  const llvm::ConstantFP* constant = UniformConstant(value);
  return constant != nullptr && constant->isZero() && !constant->isNegative();
}

bool IsNumber(Value* value) {
  const llvm::ConstantFP* constant = UniformConstant(value);
  return constant != nullptr && !constant->isNaN();
}

// Operands of VRANGE's immediate: which one to take, by the sign of the result
// of the comparison.
enum RangeKind { kRangeMin = 4, kRangeMax = 5 };

// VRANGE of whole registers: the other operand where one is NaN. Null if there
// is no such instruction for the type.
Value* EmitRange(IRBuilderBase& b, RangeKind kind, Value* x, Value* y) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (type == nullptr) return nullptr;
  const bool is_double = type->getElementType()->isDoubleTy();
  const unsigned lanes = type->getNumElements();
  llvm::Intrinsic::ID id;
  switch (lanes * type->getScalarSizeInBits()) {
    case 512:
      id = is_double ? llvm::Intrinsic::x86_avx512_mask_range_pd_512
                     : llvm::Intrinsic::x86_avx512_mask_range_ps_512;
      break;
    case 256:
      id = is_double ? llvm::Intrinsic::x86_avx512_mask_range_pd_256
                     : llvm::Intrinsic::x86_avx512_mask_range_ps_256;
      break;
    case 128:
      id = is_double ? llvm::Intrinsic::x86_avx512_mask_range_pd_128
                     : llvm::Intrinsic::x86_avx512_mask_range_ps_128;
      break;
    default:
      return nullptr;
  }
  llvm::Type* mask = b.getIntNTy(lanes > 8 ? 16 : 8);
  llvm::SmallVector<Value*, 6> arguments = {
      x, y, b.getInt32(kind), llvm::Constant::getNullValue(type),
      llvm::Constant::getAllOnesValue(mask)};
  constexpr int kCurrentRounding = 4;
  if (lanes * type->getScalarSizeInBits() == 512)
    arguments.push_back(b.getInt32(kCurrentRounding));
  return b.CreateIntrinsic(id, {}, arguments);
}

Value* EmitExtreme(IRBuilderBase& b, bool range, RangeKind kind,
                   llvm::Intrinsic::ID generic, Value* x, Value* y) {
  // LLVM needs one instruction beside a number other than zero.
  if (range && !IsNumber(x) && !IsNumber(y)) {
    if (Value* done = EmitRange(b, kind, x, y)) {
      return b.CreateSelect(b.CreateFCmpUNO(x, y),
                            llvm::ConstantFP::getNaN(x->getType()), done);
    }
  }
  return b.CreateBinaryIntrinsic(generic, x, y);
}

}  // namespace

Value* EmitMax(IRBuilderBase& b, bool range, Value* x, Value* y) {
  if (IsPositiveZero(x)) std::swap(x, y);
  if (IsPositiveZero(y)) {
    // MAXPS gives its second operand where that is NaN or both are zero;
    // adding +0 makes +0 of -0.
    return b.CreateFAdd(b.CreateSelect(b.CreateFCmpOLT(x, y), y, x), y);
  }
  return EmitExtreme(b, range, kRangeMax, llvm::Intrinsic::maximum, x, y);
}

Value* EmitMin(IRBuilderBase& b, bool range, Value* x, Value* y) {
  return EmitExtreme(b, range, kRangeMin, llvm::Intrinsic::minimum, x, y);
}

}  // namespace tilewright::cpu
