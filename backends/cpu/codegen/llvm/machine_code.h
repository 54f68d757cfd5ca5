// LLVM IR -> machine code, with what each function uses.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_MACHINE_CODE_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_MACHINE_CODE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "backends/cpu/codegen/llvm/cpu_target.h"
#include "llvm/IR/Module.h"

namespace tilewright::cpu {

// Read from the final machine instructions of a function.
struct FrameUse {
  int64_t stack_bytes = 0;
  int spills =
      0;  // instructions that store a vector to or load one from a spill slot
};

struct MachineCode {
  std::string object;  // relocatable ELF
  std::map<std::string, FrameUse> frames;
};

// Common subexpression elimination, then LLVM's code generator at its default
// level; no other pass. Changes `module`.
absl::StatusOr<MachineCode> CompileToObject(const CpuTarget& target,
                                            llvm::Module& module);
// The same as assembly text.
absl::StatusOr<std::string> CompileToAssembly(const CpuTarget& target,
                                              llvm::Module& module);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_LLVM_MACHINE_CODE_H_
