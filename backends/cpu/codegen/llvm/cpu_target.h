// Tells LLVM about a CPU, and emits what its portable operations cannot say.
// The emitters of this folder know no architecture: whatever differs between
// them stands here.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_CPU_TARGET_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_CPU_TARGET_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "tilegraph/ir/intrinsics.h"

namespace tilewright::cpu {

// Operations that an architecture does better than LLVM's portable ones. Where
// a function returns null, the caller writes the operation out.
class SpecialInstructions {
 public:
  virtual ~SpecialInstructions() = default;

  // max and min of floats: NaN if either side is NaN, -0 below +0.
  virtual llvm::Value* Max(llvm::IRBuilderBase& b, llvm::Value* x,
                           llvm::Value* y) const = 0;
  virtual llvm::Value* Min(llvm::IRBuilderBase& b, llvm::Value* x,
                           llvm::Value* y) const = 0;
  // a * 2^floor(n) lane by lane, rounded once. Floats or doubles of any number
  // of lanes. REQUIRES: CpuTarget::scale.
  virtual llvm::Value* Scale(llvm::IRBuilderBase& b, llvm::Value* a,
                             llvm::Value* n) const = 0;
  // values[the low four bits of `source`'s bits], lane by lane; f32 of any
  // number of lanes. REQUIRES: CpuTarget::lookup, 16 values.
  virtual llvm::Value* Lookup(llvm::IRBuilderBase& b, llvm::Value* source,
                              absl::Span<const float> values) const = 0;
  // table[source[i]] for each lane i: bytes, any number of lanes. REQUIRES:
  // CpuTarget::permute, 256 lanes of the table.
  virtual llvm::Value* Permute(llvm::IRBuilderBase& b, llvm::Value* source,
                               llvm::Value* table) const = 0;
  // DotInst of backends/kernel_ir/scalar_inst.h, or null.
  virtual llvm::Value* Dot(llvm::IRBuilderBase& b, const DotIntrinsic& dot,
                           llvm::Value* acc, llvm::Value* x,
                           llvm::Value* y) const = 0;
  // Orders stores past the caches before whatever comes after the kernel.
  virtual void StreamFence(llvm::IRBuilderBase& b) const = 0;
};

// A feature class, spelled for LLVM. Features come from the class alone, so a
// module that names its class runs wherever the class is.
struct CpuTarget {
  std::string cpu_class;  // "x86-64-v4"
  std::string triple;
  std::string cpu;       // LLVM's name of the architecture's baseline
  std::string features;  // "+avx,+avx2,..."
  std::string tune;      // LLVM's name of the scheduling model for the class
  int vector_bytes = 0;
  int vector_registers = 0;
  bool fma = false;
  bool half_conversions = false;   // fp16 to and from f32
  bool scale = false;              // SpecialInstructions::Scale
  bool lookup = false;             // SpecialInstructions::Lookup
  bool permute = false;            // SpecialInstructions::Permute
  void (*initialize)() = nullptr;  // LLVM's back end; called once or more
  std::shared_ptr<const SpecialInstructions> instructions;
};

// A new machine, for one thread. Internal if LLVM lacks the back end.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateTargetMachine(
    const CpuTarget& target);

// The attributes every kernel carries: the target above, no calls invented, no
// unwind tables, and vectors of the full width (LLVM would otherwise split
// 512-bit ones).
void SetFunctionAttributes(const CpuTarget& target, llvm::Function& function);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_CPU_TARGET_H_
