#include "backends/cpu/codegen/x86/lookup.h"

#include "backends/cpu/codegen/llvm/by_register.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tilewright::cpu {

using ::llvm::Value;

Value* EmitLookup(llvm::IRBuilderBase& b, Value* source,
                  absl::Span<const float> values) {
  Value* const table = llvm::ConstantDataVector::get(
      b.getContext(), llvm::ArrayRef<float>(values.data(), values.size()));
  const unsigned lanes = values.size();
  return ByRegister(b, lanes, {source}, [&](llvm::ArrayRef<Value*> part) {
    Value* const index = b.CreateBitCast(
        part[0], llvm::FixedVectorType::get(b.getInt32Ty(), lanes));
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
                             {table, index});
  });
}

}  // namespace tilewright::cpu
