#include "backends/cpu/codegen/llvm/op_emitter.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/llvm/convert.h"

namespace tilewright::cpu {
namespace {

using ::llvm::IRBuilderBase;
using ::llvm::Value;

Value* Zero(Value* like) {
  return llvm::Constant::getNullValue(like->getType());
}
Value* Int(Value* like, int64_t value) {
  return llvm::ConstantInt::getSigned(like->getType(), value);
}

// The constant in every lane, or null.
const llvm::ConstantInt* UniformConstant(Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant == nullptr) return nullptr;
  if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  return llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
}

// Quotient and remainder, truncated: x / 0 = x mod 0 = 0, INT_MIN / -1 =
// INT_MIN. The divisor that would trap is replaced before the division.
struct Division {
  Value* quotient;
  Value* remainder;
};
Division Truncated(IRBuilderBase& b, bool is_unsigned, Value* x, Value* y) {
  Value* by_zero = b.CreateICmpEQ(y, Zero(y));
  Value* by_minus_one = is_unsigned ? nullptr : b.CreateICmpEQ(y, Int(y, -1));
  Value* unsafe = is_unsigned ? by_zero : b.CreateOr(by_zero, by_minus_one);
  Value* divisor = b.CreateSelect(unsafe, Int(y, 1), y);
  Value* quotient =
      is_unsigned ? b.CreateUDiv(x, divisor) : b.CreateSDiv(x, divisor);
  Value* remainder = b.CreateSub(x, b.CreateMul(quotient, divisor));
  if (!is_unsigned)
    quotient = b.CreateSelect(by_minus_one, b.CreateNeg(x), quotient);
  return {b.CreateSelect(by_zero, Zero(x), quotient),
          b.CreateSelect(unsafe, Zero(x), remainder)};
}

// Rounded down: the remainder has the sign of y.
Division Floored(IRBuilderBase& b, bool is_unsigned, Value* x, Value* y) {
  if (const llvm::ConstantInt* c = UniformConstant(y);
      c != nullptr && c->getValue().isPowerOf2() &&
      (is_unsigned || !c->getValue().isNegative())) {
    Value* mask = llvm::ConstantInt::get(y->getType(), c->getValue() - 1);
    const unsigned shift = c->getValue().logBase2();
    return {is_unsigned ? b.CreateLShr(x, shift) : b.CreateAShr(x, shift),
            b.CreateAnd(x, mask)};
  }
  Division d = Truncated(b, is_unsigned, x, y);
  if (is_unsigned) return d;
  Value* inexact = b.CreateICmpNE(d.remainder, Zero(x));
  Value* signs_differ = b.CreateICmpSLT(b.CreateXor(d.remainder, y), Zero(x));
  Value* adjust = b.CreateAnd(inexact, signs_differ);
  return {
      b.CreateSelect(adjust, b.CreateSub(d.quotient, Int(x, 1)), d.quotient),
      b.CreateSelect(adjust, b.CreateAdd(d.remainder, y), d.remainder)};
}

// Null if `op` is none of these.
Value* FloatOp(IRBuilderBase& b, const CpuTarget& target, Op op,
               absl::Span<Value* const> v) {
  const auto unary = [&](llvm::Intrinsic::ID id) {
    return b.CreateUnaryIntrinsic(id, v[0]);
  };
  switch (op) {
    case Op::kNeg:
      return b.CreateFNeg(v[0]);
    case Op::kAbs:
      return unary(llvm::Intrinsic::fabs);
    case Op::kSqrt:
      return unary(llvm::Intrinsic::sqrt);
    case Op::kFloor:
      return unary(llvm::Intrinsic::floor);
    case Op::kCeil:
      return unary(llvm::Intrinsic::ceil);
    case Op::kRound:
      return unary(llvm::Intrinsic::roundeven);
    case Op::kIsNan:
      return b.CreateFCmpUNO(v[0], v[0]);
    case Op::kAdd:
      return b.CreateFAdd(v[0], v[1]);
    case Op::kSub:
      return b.CreateFSub(v[0], v[1]);
    case Op::kMul:
      return b.CreateFMul(v[0], v[1]);
    case Op::kDiv:
      return b.CreateFDiv(v[0], v[1]);
    case Op::kMax:
      return target.instructions->Max(b, v[0], v[1]);
    case Op::kMin:
      return target.instructions->Min(b, v[0], v[1]);
    case Op::kEq:
      return b.CreateFCmpOEQ(v[0], v[1]);
    case Op::kNe:
      return b.CreateFCmpUNE(v[0], v[1]);
    case Op::kLt:
      return b.CreateFCmpOLT(v[0], v[1]);
    case Op::kLe:
      return b.CreateFCmpOLE(v[0], v[1]);
    case Op::kGt:
      return b.CreateFCmpOGT(v[0], v[1]);
    case Op::kGe:
      return b.CreateFCmpOGE(v[0], v[1]);
    default:
      return nullptr;
  }
}

// Integers and bool; null if `op` is none of these.
Value* IntegerOp(IRBuilderBase& b, Op op, bool is_unsigned, bool is_bool,
                 absl::Span<Value* const> v) {
  using llvm::CmpInst;
  const auto compare = [&](CmpInst::Predicate u, CmpInst::Predicate s) {
    return b.CreateICmp(is_unsigned ? u : s, v[0], v[1]);
  };
  const auto binary = [&](llvm::Intrinsic::ID u, llvm::Intrinsic::ID s) {
    return b.CreateBinaryIntrinsic(is_unsigned ? u : s, v[0], v[1]);
  };
  switch (op) {
    case Op::kNeg:
      return b.CreateNeg(v[0]);
    case Op::kAbs:
      if (is_unsigned) return v[0];
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v[0], b.getFalse());
    case Op::kIsNan:
      return llvm::Constant::getNullValue(
          WithLanesOf(b.getInt1Ty(), v[0]->getType()));
    case Op::kNot:
      return b.CreateNot(v[0]);
    case Op::kAdd:
      return is_bool ? b.CreateOr(v[0], v[1]) : b.CreateAdd(v[0], v[1]);
    case Op::kSub:
      return b.CreateSub(v[0], v[1]);
    case Op::kMul:
      return b.CreateMul(v[0], v[1]);
    case Op::kDiv:
      return Truncated(b, is_unsigned, v[0], v[1]).quotient;
    case Op::kFloorDiv:
      return Floored(b, is_unsigned, v[0], v[1]).quotient;
    case Op::kFloorMod:
      return Floored(b, is_unsigned, v[0], v[1]).remainder;
    case Op::kMax:
      return binary(llvm::Intrinsic::umax, llvm::Intrinsic::smax);
    case Op::kMin:
      return binary(llvm::Intrinsic::umin, llvm::Intrinsic::smin);
    case Op::kAnd:
      return b.CreateAnd(v[0], v[1]);
    case Op::kOr:
      return b.CreateOr(v[0], v[1]);
    case Op::kXor:
      return b.CreateXor(v[0], v[1]);
    case Op::kEq:
      return b.CreateICmpEQ(v[0], v[1]);
    case Op::kNe:
      return b.CreateICmpNE(v[0], v[1]);
    case Op::kLt:
      return compare(CmpInst::ICMP_ULT, CmpInst::ICMP_SLT);
    case Op::kLe:
      return compare(CmpInst::ICMP_ULE, CmpInst::ICMP_SLE);
    case Op::kGt:
      return compare(CmpInst::ICMP_UGT, CmpInst::ICMP_SGT);
    case Op::kGe:
      return compare(CmpInst::ICMP_UGE, CmpInst::ICMP_SGE);
    default:
      return nullptr;
  }
}

}  // namespace

absl::StatusOr<Value*> EmitOp(IRBuilderBase& b, const CpuTarget& target, Op op,
                              DType dtype, DType operand_dtype,
                              absl::Span<Value* const> operands) {
  if (op == Op::kSelect) {
    return b.CreateSelect(operands[0], operands[1], operands[2]);
  }
  if (op == Op::kCast) {
    return EmitCast(b, dtype, operand_dtype, operands[0]);
  }
  Value* result = IsFloat(operand_dtype)
                      ? FloatOp(b, target, op, operands)
                      : IntegerOp(b, op, IsUnsigned(operand_dtype),
                                  operand_dtype == DType::kBool, operands);
  if (result == nullptr) {
    return absl::UnimplementedError(absl::StrCat(
        "the CPU has no instruction for ", std::string(Name(op)), " of ",
        std::string(Name(operand_dtype)), ": expand it before Emit"));
  }
  return result;
}

}  // namespace tilewright::cpu
