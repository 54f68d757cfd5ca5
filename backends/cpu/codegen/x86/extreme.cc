#include "backends/cpu/codegen/x86/extreme.h"

#include "backends/cpu/codegen/llvm/by_register.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/PatternMatch.h"

namespace tilewright::cpu {
namespace {

using ::llvm::CmpInst;
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

// Whether `value` changes no number: an infinity.
bool IsIdentity(RangeKind kind, Value* value) {
  const llvm::ConstantFP* constant = UniformConstant(value);
  return constant != nullptr && constant->isInfinity() &&
         constant->isNegative() == (kind == kRangeMax);
}

// VRANGE of a whole register: the other operand where one is NaN.
Value* RangeOfRegister(IRBuilderBase& b, RangeKind kind, Value* x, Value* y) {
  auto* type = llvm::cast<llvm::FixedVectorType>(x->getType());
  const bool is_double = type->getElementType()->isDoubleTy();
  const unsigned lanes = type->getNumElements();
  const unsigned bits = lanes * type->getScalarSizeInBits();
  llvm::Intrinsic::ID id;
  if (bits == 512) {
    id = is_double ? llvm::Intrinsic::x86_avx512_mask_range_pd_512
                   : llvm::Intrinsic::x86_avx512_mask_range_ps_512;
  } else if (bits == 256) {
    id = is_double ? llvm::Intrinsic::x86_avx512_mask_range_pd_256
                   : llvm::Intrinsic::x86_avx512_mask_range_ps_256;
  } else {
    id = is_double ? llvm::Intrinsic::x86_avx512_mask_range_pd_128
                   : llvm::Intrinsic::x86_avx512_mask_range_ps_128;
  }
  llvm::Type* mask = b.getIntNTy(lanes > 8 ? 16 : 8);
  llvm::SmallVector<Value*, 6> arguments = {
      x, y, b.getInt32(kind), llvm::Constant::getNullValue(type),
      llvm::Constant::getAllOnesValue(mask)};
  constexpr int kCurrentRounding = 4;
  if (bits == 512) arguments.push_back(b.getInt32(kCurrentRounding));
  return b.CreateIntrinsic(id, {}, arguments);
}

// Of any number of lanes.
Value* EmitRange(IRBuilderBase& b, RangeKind kind, Value* x, Value* y) {
  const unsigned bits = x->getType()->getScalarSizeInBits();
  unsigned width = 128 / bits;
  while (width < 512 / bits && width < static_cast<unsigned>(LanesOf(x)))
    width *= 2;
  return ByRegister(b, width, {x, y}, [&](llvm::ArrayRef<Value*> part) {
    return RangeOfRegister(b, kind, part[0], part[1]);
  });
}

// A number where `ordered` says so, else NaN. An extreme of an extreme leaves
// out the choice between them.
struct Partial {
  Value* number;
  Value* ordered;
};

// Marks the choices that Join() makes. Of any other `number` may be NaN.
constexpr char kJoined[] = "tilewright.extreme";

// What Join() below has made, or `value` by itself.
Partial AsPartial(IRBuilderBase& b, Value* value) {
  if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(value);
      choice != nullptr && choice->getMetadata(kJoined) != nullptr)
    return {choice->getTrueValue(), choice->getCondition()};
  return {value, b.CreateFCmpORD(value, value)};
}

// Both conditions. One instruction looks at two values: two that look at one
// value each become one.
Value* And(IRBuilderBase& b, Value* x, Value* y) {
  using namespace llvm::PatternMatch;
  Value *one, *other, *rest = nullptr;
  CmpInst::Predicate predicate;
  const auto alone = [&](Value*& value) {
    return m_FCmp(predicate, m_Value(value), m_Deferred(value));
  };
  if (match(y, alone(other)) &&
      (match(x, alone(one)) || match(x, m_And(m_Value(rest), alone(one))))) {
    Value* both = b.CreateFCmpORD(one, other);
    return rest == nullptr ? both : b.CreateAnd(rest, both);
  }
  return b.CreateAnd(x, y);
}

Value* Join(IRBuilderBase& b, const Partial& partial) {
  Value* choice =
      b.CreateSelect(partial.ordered, partial.number,
                     llvm::ConstantFP::getNaN(partial.number->getType()));
  if (auto* made = llvm::dyn_cast<llvm::SelectInst>(choice))
    made->setMetadata(kJoined, llvm::MDNode::get(b.getContext(), {}));
  return choice;
}

Value* EmitExtreme(IRBuilderBase& b, bool range, RangeKind kind,
                   llvm::Intrinsic::ID generic, Value* x, Value* y) {
  if (range && (IsIdentity(kind, x) || IsIdentity(kind, y)))
    return Join(b, AsPartial(b, IsIdentity(kind, x) ? y : x));
  // LLVM needs one instruction beside a number other than zero.
  if (range && !IsNumber(x) && !IsNumber(y)) {
    const Partial left = AsPartial(b, x), right = AsPartial(b, y);
    return Join(b, {EmitRange(b, kind, left.number, right.number),
                    And(b, left.ordered, right.ordered)});
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
