#include "backends/cpu/codegen/llvm/by_register.h"

#include <algorithm>
#include <numeric>

#include "llvm/ADT/SmallVector.h"

namespace tilewright::cpu {
namespace {

using ::llvm::Value;

// The first lanes of `v`, undefined ones behind its last.
Value* Resized(llvm::IRBuilderBase& b, Value* v, unsigned want) {
  const unsigned have =
      llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
  if (have == want) return v;
  llvm::SmallVector<int, 64> mask(want, llvm::PoisonMaskElem);
  std::iota(mask.begin(), mask.begin() + std::min(have, want), 0);
  return b.CreateShuffleVector(v, mask);
}

}  // namespace

int LanesOf(const Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

Value* ByRegister(llvm::IRBuilderBase& b, unsigned width,
                  llvm::ArrayRef<Value*> operands,
                  llvm::function_ref<Value*(llvm::ArrayRef<Value*>)> emit) {
  const bool scalar = !operands[0]->getType()->isVectorTy();
  llvm::SmallVector<Value*, 3> whole;
  unsigned lanes = 1, all = width;
  for (Value* v : operands) {
    if (scalar)
      v = b.CreateBitCast(v, llvm::FixedVectorType::get(v->getType(), 1));
    lanes = llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
    all = (lanes + width - 1) / width * width;
    whole.push_back(Resized(b, v, all));
  }
  Value* result = nullptr;
  if (all == width) {
    result = emit(whole);
  } else {
    for (unsigned begin = 0; begin < all; begin += width) {
      Value* const at = b.getInt64(begin);
      llvm::SmallVector<Value*, 3> part;
      for (Value* v : whole)
        part.push_back(b.CreateExtractVector(
            llvm::FixedVectorType::get(v->getType()->getScalarType(), width), v,
            at));
      Value* const done = emit(part);
      if (result == nullptr)
        result = llvm::PoisonValue::get(
            llvm::FixedVectorType::get(done->getType()->getScalarType(), all));
      result = b.CreateInsertVector(result->getType(), result, done, at);
    }
  }
  return scalar ? b.CreateExtractElement(result, uint64_t{0})
                : Resized(b, result, lanes);
}

}  // namespace tilewright::cpu
