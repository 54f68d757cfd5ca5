// What LLVM is told about the machine.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_CPU_TARGET_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_CPU_TARGET_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "llvm/IR/Function.h"
#include "llvm/Target/TargetMachine.h"

namespace tilewright::cpu {

// A feature class, spelled for LLVM. Features come from the class alone, so a
// module that names its class runs wherever the class is.
struct CpuTarget {
  std::string cpu_class;  // "x86-64-v4"
  std::string features;   // "+avx,+avx2,..."
  std::string tune;       // LLVM's name of the scheduling model for the class
  int vector_bytes = 0;
  bool fma = false;
  bool f16c = false;
  bool vnni = false;    // AVX512_VNNI: products of bytes, summed by four
  bool bf16 = false;    // AVX512_BF16: products of bf16, summed by two
  bool range = false;   // VRANGEPS and its like: AVX-512DQ with VL
  bool scale = false;   // VSCALEFPS and its like: AVX-512F with VL
  bool lookup = false;  // VPERMPS of 16 lanes: AVX-512F
};

// From spec.target() ("cpu:CLASS") and unit.vector_bytes(). InvalidArgument if
// it names no CPU class, or vectors wider than the class has.
absl::StatusOr<CpuTarget> CpuTargetOf(const DeviceSpec& spec);

// A new machine, for one thread. Initialises LLVM's x86 back end once.
absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateTargetMachine(
    const CpuTarget& target);

// The attributes every kernel carries: the target above, no calls invented, no
// unwind tables, and vectors of the full width (LLVM would otherwise split
// 512-bit ones).
void SetFunctionAttributes(const CpuTarget& target, llvm::Function& function);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_CPU_TARGET_H_
