// Loads, stores and prefetches of one kernel as LLVM IR.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_MEMORY_EMITTER_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_MEMORY_EMITTER_H_

#include <vector>

#include "absl/types/span.h"
#include "backends/cpu/codegen/llvm/cpu_target.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "llvm/Analysis/InstSimplifyFolder.h"
#include "llvm/IR/IRBuilder.h"

namespace tilewright::cpu {

using Builder = llvm::IRBuilder<llvm::InstSimplifyFolder>;

// Addresses are base + offset register + constant, in this order, so that the
// constant becomes the instruction's displacement. Every buffer has an alias
// scope of its own: buffers of a kernel do not overlap.
class MemoryEmitter {
 public:
  // Loads the buffers' addresses from `args` (a KernelArgs) at `b`'s position;
  // scratch buffers lie in `scratch`.
  MemoryEmitter(Builder& b, const CpuTarget& target,
                const kernel_ir::ScalarKernel& kernel, llvm::Value* args,
                llvm::Value* scratch);

  // `offset`, `mask` and `other` may be null; they are as in the instruction.
  // `type` is that of the register.
  llvm::Value* Load(const kernel_ir::LoadInst& inst,
                    const kernel_ir::RegType& type, llvm::Value* offset,
                    llvm::Value* mask, llvm::Value* other);
  void Store(const kernel_ir::StoreInst& inst, int lanes, llvm::Value* value,
             llvm::Value* offset, llvm::Value* mask);
  void Prefetch(const kernel_ir::PrefetchInst& inst, llvm::Value* offset);

  // Whether streaming stores go past the caches, from here on. REQUIRES: their
  // buffers start at multiples of the vector's size.
  void set_streams(bool streams) { streams_ = streams; }
  llvm::Value* AreVectorAligned(absl::Span<const int> buffers);
  // Whoever learns that the kernel has ended sees what it streamed.
  void EmitFence();

 private:
  llvm::Value* Address(int buffer, llvm::Value* offset,
                       int64_t constant_offset);
  // The lanes to touch as a vector of i1, or null for all. REQUIRES: lanes > 1.
  llvm::Value* LaneMask(int lanes, int active, llvm::Value* mask);
  // The lanes that masked accesses name: all up to the end of the register in
  // which the last active one lies. (LLVM 19 reads registers behind it although
  // their mask is zero.)
  int TouchedLanes(int lanes, int active, DType dtype) const;
  llvm::Value* FirstLanes(llvm::Value* vector, int lanes);
  llvm::Value* LoadMasked(const kernel_ir::LoadInst& inst, int lanes,
                          llvm::Value* address, llvm::Value* mask);
  llvm::Align ElementAlign(int buffer) const;
  llvm::Instruction* Annotate(llvm::Instruction* access, int buffer);
  // Zeros that may be read instead of memory that must not be.
  llvm::Value* Zeros();

  Builder& b_;
  const CpuTarget& target_;
  const kernel_ir::ScalarKernel& kernel_;
  std::vector<llvm::Value*> base_;
  std::vector<llvm::MDNode*> own_scope_, other_scopes_;
  bool streams_ = false;
};

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_MEMORY_EMITTER_H_
