#include "backends/cpu/codegen/x86/dot.h"

#include "backends/cpu/codegen/llvm/by_register.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tilewright::cpu {
namespace {

using ::llvm::IRBuilderBase;
using ::llvm::Type;
using ::llvm::Value;

// The group, 4 bytes, once per lane, as a vector of 32-bit integers.
Value* Repeated(IRBuilderBase& b, Value* group, int lanes) {
  return b.CreateVectorSplat(lanes, b.CreateBitCast(group, b.getInt32Ty()));
}

// By the size of a register: 128, 256 or 512 bits.
struct BySize {
  llvm::Intrinsic::ID id[3];
};
constexpr BySize kVnni = {{llvm::Intrinsic::x86_avx512_vpdpbusd_128,
                           llvm::Intrinsic::x86_avx512_vpdpbusd_256,
                           llvm::Intrinsic::x86_avx512_vpdpbusd_512}};
constexpr BySize kBf16 = {{llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128,
                           llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256,
                           llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512}};
constexpr BySize kMultiplyAdd = {{llvm::Intrinsic::x86_sse2_pmadd_wd,
                                  llvm::Intrinsic::x86_avx2_pmadd_wd,
                                  llvm::Intrinsic::x86_avx512_pmaddw_d_512}};

// -1: the lanes fill no register of `vector_bytes` or less.
int SizeOf(int vector_bytes, int lanes) {
  if (4 * lanes > vector_bytes) return -1;
  return lanes == 4 ? 0 : lanes == 8 ? 1 : lanes == 16 ? 2 : -1;
}

Value* EmitVnni(IRBuilderBase& b, int size, Value* acc, Value* x, Value* y) {
  const int lanes = LanesOf(acc);
  return b.CreateIntrinsic(
      kVnni.id[size], {},
      {acc, Repeated(b, x, lanes), b.CreateBitCast(y, acc->getType())});
}

Value* EmitBf16(IRBuilderBase& b, int size, Value* acc, Value* x, Value* y) {
  const int lanes = LanesOf(acc);
  Type* pairs = llvm::FixedVectorType::get(b.getBFloatTy(), 2 * lanes);
  return b.CreateIntrinsic(kBf16.id[size], {},
                           {acc, b.CreateBitCast(Repeated(b, x, lanes), pairs),
                            b.CreateBitCast(y, pairs)});
}

// acc + x0 y0 + x2 y2 + x1 y1 + x3 y3 in 16-bit factors.
Value* EmitMultiplyAdd(IRBuilderBase& b, int size, Value* acc, Value* x,
                       Value* y) {
  const int lanes = LanesOf(acc);
  Type* words = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * lanes);
  Value* a = b.CreateBitCast(x, b.getInt32Ty());
  Value* w = b.CreateBitCast(y, words);
  const auto spread = [&](Value* bits) {
    return b.CreateBitCast(b.CreateVectorSplat(lanes, bits), words);
  };
  Value* mask = b.getInt32(0x00ff00ff);
  Value* a_even = spread(b.CreateAnd(a, mask));
  Value* a_odd = spread(b.CreateAnd(b.CreateLShr(a, 8), mask));
  Value* w_even = b.CreateAShr(b.CreateShl(w, 8), 8);
  Value* w_odd = b.CreateAShr(w, 8);
  const llvm::Intrinsic::ID id = kMultiplyAdd.id[size];
  acc = b.CreateAdd(acc, b.CreateIntrinsic(id, {}, {a_even, w_even}));
  return b.CreateAdd(acc, b.CreateIntrinsic(id, {}, {a_odd, w_odd}));
}

}  // namespace

Value* EmitX86Dot(IRBuilderBase& b, const X86Features& features,
                  const DotIntrinsic& dot, Value* acc, Value* x, Value* y) {
  const int size = SizeOf(features.vector_bytes, LanesOf(acc));
  if (size < 0) return nullptr;
  if (dot.a == DType::kUInt8)
    return features.vnni ? EmitVnni(b, size, acc, x, y)
                         : EmitMultiplyAdd(b, size, acc, x, y);
  if (dot.a == DType::kBFloat16 && features.bf16)
    return EmitBf16(b, size, acc, x, y);
  return nullptr;
}

}  // namespace tilewright::cpu
