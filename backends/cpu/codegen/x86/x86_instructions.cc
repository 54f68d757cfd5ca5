#include "backends/cpu/codegen/x86/x86_instructions.h"

#include "backends/cpu/codegen/x86/dot.h"
#include "backends/cpu/codegen/x86/extreme.h"
#include "backends/cpu/codegen/x86/lookup.h"
#include "backends/cpu/codegen/x86/permute.h"
#include "backends/cpu/codegen/x86/scale.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tilewright::cpu {
namespace {

using ::llvm::IRBuilderBase;
using ::llvm::Value;

class Instructions : public SpecialInstructions {
 public:
  explicit Instructions(const X86Features& features) : features_(features) {}

  Value* Max(IRBuilderBase& b, Value* x, Value* y) const override {
    return EmitMax(b, features_.range, x, y);
  }
  Value* Min(IRBuilderBase& b, Value* x, Value* y) const override {
    return EmitMin(b, features_.range, x, y);
  }
  Value* Scale(IRBuilderBase& b, Value* a, Value* n) const override {
    return EmitScale(b, a, n);
  }
  Value* Lookup(IRBuilderBase& b, Value* source,
                absl::Span<const float> values) const override {
    return EmitLookup(b, source, values);
  }
  Value* Permute(IRBuilderBase& b, Value* source, Value* table) const override {
    return EmitPermute(b, source, table);
  }
  Value* Dot(IRBuilderBase& b, const DotIntrinsic& dot, Value* acc, Value* x,
             Value* y) const override {
    return EmitX86Dot(b, features_, dot, acc, x, y);
  }
  void StreamFence(IRBuilderBase& b) const override {
    b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
  }

 private:
  const X86Features features_;
};

}  // namespace

std::shared_ptr<const SpecialInstructions> X86Instructions(
    const X86Features& features) {
  return std::make_shared<Instructions>(features);
}

}  // namespace tilewright::cpu
