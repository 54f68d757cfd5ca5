#include "backends/cpu/codegen/llvm/convert.h"

#include "base/check.h"

namespace tilewright::cpu {
namespace {

using ::llvm::IRBuilderBase;
using ::llvm::Type;
using ::llvm::Value;

Type* ScalarType(llvm::LLVMContext& context, DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return Type::getInt1Ty(context);
    case DType::kInt8:
    case DType::kUInt8:
      return Type::getInt8Ty(context);
    case DType::kInt16:
    case DType::kUInt16:
      return Type::getInt16Ty(context);
    case DType::kInt32:
    case DType::kUInt32:
      return Type::getInt32Ty(context);
    case DType::kInt64:
    case DType::kUInt64:
      return Type::getInt64Ty(context);
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
      return Type::getFloatTy(context);
    case DType::kFloat64:
      return Type::getDoubleTy(context);
  }
  TW_CHECK(false) << "dtype " << static_cast<int>(dtype);
  return nullptr;
}

Value* Const(Value* like, uint64_t value) {
  return llvm::ConstantInt::get(like->getType(), value);
}

// Float -> 8 or 16 bits. LLVM's saturating conversion to these does one element
// after the other.
Value* FloatToNarrow(IRBuilderBase& b, DType to, Type* type, Value* value) {
  const int bits = static_cast<int>(8 * SizeBytes(to));
  const bool is_unsigned = IsUnsigned(to);
  const auto bound = [&](double number) {
    return llvm::ConstantFP::get(value->getType(), number);
  };
  Value* low = bound(is_unsigned ? 0 : -static_cast<double>(1 << (bits - 1)));
  Value* high = bound((1 << (is_unsigned ? bits : bits - 1)) - 1);
  if (!is_unsigned) {
    value = b.CreateSelect(b.CreateFCmpORD(value, value), value, bound(0));
  }
  // Where the comparison fails for a NaN, that is 0.
  value = b.CreateSelect(b.CreateFCmpOGT(value, low), value, low);
  value = b.CreateSelect(b.CreateFCmpOLT(value, high), value, high);
  Type* i32 = WithLanesOf(b.getInt32Ty(), value->getType());
  return b.CreateTrunc(b.CreateFPToSI(value, i32), type);
}

// f32 -> bf16 bits, to nearest even; NaN stays a quiet NaN. In integers: the
// hardware's instruction flushes denormals.
Value* FloatToBFloat16(IRBuilderBase& b, Value* value) {
  Type* i32 = WithLanesOf(b.getInt32Ty(), value->getType());
  Value* bits = b.CreateBitCast(value, i32);
  Value* odd = b.CreateAnd(b.CreateLShr(bits, 16), Const(bits, 1));
  Value* rounded = b.CreateLShr(
      b.CreateAdd(bits, b.CreateAdd(odd, Const(bits, 0x7fff))), 16);
  Value* quiet = b.CreateOr(b.CreateLShr(bits, 16), Const(bits, 0x40));
  Value* is_nan = b.CreateFCmpUNO(value, value);
  return b.CreateTrunc(b.CreateSelect(is_nan, quiet, rounded),
                       WithLanesOf(b.getInt16Ty(), value->getType()));
}

Value* BFloat16ToFloat(IRBuilderBase& b, Value* bits) {
  Type* i32 = WithLanesOf(b.getInt32Ty(), bits->getType());
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, i32), 16),
                         WithLanesOf(b.getFloatTy(), bits->getType()));
}

// f32 -> fp16 bits without F16C, to nearest even. Three ranges of |x|: infinite
// or NaN results, fp16 denormals (rounded by a float addition that aligns the
// mantissas), and normal numbers.
Value* FloatToHalfBits(IRBuilderBase& b, Value* value) {
  Type* f32 = value->getType();
  Type* i32 = WithLanesOf(b.getInt32Ty(), f32);
  Value* bits = b.CreateBitCast(value, i32);
  Value* sign = b.CreateAnd(bits, Const(bits, 0x80000000u));
  Value* magnitude = b.CreateXor(bits, sign);
  Value* special = b.CreateSelect(
      b.CreateICmpUGT(magnitude, Const(bits, 0x7f800000u)),
      b.CreateOr(b.CreateAnd(b.CreateLShr(magnitude, 13), Const(bits, 0x3ff)),
                 Const(bits, 0x7e00)),
      Const(bits, 0x7c00));
  // 0.5 has the exponent at which one unit in the last place is 2^-24.
  Value* aligned = b.CreateFAdd(b.CreateBitCast(magnitude, f32),
                                llvm::ConstantFP::get(f32, 0.5));
  Value* denormal =
      b.CreateSub(b.CreateBitCast(aligned, i32), Const(bits, 126u << 23));
  Value* odd = b.CreateAnd(b.CreateLShr(magnitude, 13), Const(bits, 1));
  Value* rebased = b.CreateAdd(
      magnitude,
      Const(bits, static_cast<uint32_t>((15 - 127) * (1 << 23)) + 0xfff));
  Value* normal = b.CreateLShr(b.CreateAdd(rebased, odd), 13);
  Value* result = b.CreateSelect(
      b.CreateICmpUGE(magnitude, Const(bits, 143u << 23)), special,
      b.CreateSelect(b.CreateICmpULT(magnitude, Const(bits, 113u << 23)),
                     denormal, normal));
  return b.CreateTrunc(b.CreateOr(result, b.CreateLShr(sign, 16)),
                       WithLanesOf(b.getInt16Ty(), f32));
}

Value* HalfBitsToFloat(IRBuilderBase& b, Value* half) {
  Type* f32 = WithLanesOf(b.getFloatTy(), half->getType());
  Type* i32 = WithLanesOf(b.getInt32Ty(), half->getType());
  Value* bits = b.CreateZExt(half, i32);
  Value* sign = b.CreateShl(b.CreateAnd(bits, Const(bits, 0x8000)), 16);
  Value* magnitude = b.CreateAnd(bits, Const(bits, 0x7fff));
  Value* shifted = b.CreateShl(magnitude, 13);
  Value* normal = b.CreateAdd(shifted, Const(bits, 112u << 23));
  Value* special = b.CreateAdd(normal, Const(bits, 112u << 23));
  // 2^-14 * (1 + m) - 2^-14: exact.
  Value* denormal = b.CreateBitCast(
      b.CreateFSub(
          b.CreateBitCast(b.CreateAdd(shifted, Const(bits, 113u << 23)), f32),
          llvm::ConstantFP::get(f32, 0x1p-14)),
      i32);
  Value* result = b.CreateSelect(
      b.CreateICmpUGE(magnitude, Const(bits, 0x7c00)), special,
      b.CreateSelect(b.CreateICmpULT(magnitude, Const(bits, 0x400)), denormal,
                     normal));
  return b.CreateBitCast(b.CreateOr(result, sign), f32);
}

}  // namespace

bool IsUnsigned(DType dtype) {
  return dtype == DType::kBool || dtype == DType::kUInt8 ||
         dtype == DType::kUInt16 || dtype == DType::kUInt32 ||
         dtype == DType::kUInt64;
}

Type* WithLanesOf(Type* scalar, Type* like) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  if (vector == nullptr) return scalar;
  return llvm::FixedVectorType::get(scalar, vector->getNumElements());
}

Type* RegisterLlvmType(llvm::LLVMContext& context, DType dtype, int lanes) {
  Type* scalar = ScalarType(context, dtype);
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

Type* MemoryLlvmType(llvm::LLVMContext& context, const CpuTarget& target,
                     DType dtype, int lanes) {
  Type* scalar = ScalarType(context, dtype);
  if (dtype == DType::kBool) scalar = Type::getInt8Ty(context);
  if (dtype == DType::kBFloat16) scalar = Type::getInt16Ty(context);
  if (dtype == DType::kFloat16) {
    scalar = target.half_conversions ? Type::getHalfTy(context) : Type::getInt16Ty(context);
  }
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

Value* ToMemory(IRBuilderBase& b, const CpuTarget& target, DType dtype,
                Value* value) {
  switch (dtype) {
    case DType::kBool:
      return b.CreateZExt(value, WithLanesOf(b.getInt8Ty(), value->getType()));
    case DType::kBFloat16:
      return FloatToBFloat16(b, value);
    case DType::kFloat16:
      if (!target.half_conversions) return FloatToHalfBits(b, value);
      return b.CreateFPTrunc(value,
                             WithLanesOf(b.getHalfTy(), value->getType()));
    default:
      return value;
  }
}

Value* FromMemory(IRBuilderBase& b, const CpuTarget& target, DType dtype,
                  Value* value) {
  switch (dtype) {
    case DType::kBool:
      return b.CreateICmpNE(value, Const(value, 0));
    case DType::kBFloat16:
      return BFloat16ToFloat(b, value);
    case DType::kFloat16:
      if (!target.half_conversions) return HalfBitsToFloat(b, value);
      return b.CreateFPExt(value,
                           WithLanesOf(b.getFloatTy(), value->getType()));
    default:
      return value;
  }
}

Value* EmitCast(IRBuilderBase& b, DType to, DType from, Value* value) {
  Type* type = WithLanesOf(ScalarType(b.getContext(), to), value->getType());
  if (IsFloat(from)) {
    if (to == DType::kBool) {
      return b.CreateFCmpUNE(value,
                             llvm::Constant::getNullValue(value->getType()));
    }
    if (IsFloat(to)) return b.CreateFPCast(value, type);
    if (SizeBytes(to) < 4) return FloatToNarrow(b, to, type, value);
    return b.CreateIntrinsic(IsUnsigned(to) ? llvm::Intrinsic::fptoui_sat
                                            : llvm::Intrinsic::fptosi_sat,
                             {type, value->getType()}, {value});
  }
  if (to == DType::kBool) return b.CreateICmpNE(value, Const(value, 0));
  if (IsFloat(to)) {
    // Through f64, as the reference does: 64-bit integers round twice.
    Type* f64 = WithLanesOf(b.getDoubleTy(), value->getType());
    const bool wide = SizeBytes(from) == 8;
    Value* result = IsUnsigned(from) ? b.CreateUIToFP(value, wide ? f64 : type)
                                     : b.CreateSIToFP(value, wide ? f64 : type);
    return b.CreateFPCast(result, type);
  }
  return b.CreateIntCast(value, type, !IsUnsigned(from));
}

}  // namespace tilewright::cpu
