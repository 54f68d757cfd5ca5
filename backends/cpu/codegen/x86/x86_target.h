// The feature classes of x86-64 for LLVM.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_X86_TARGET_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_X86_TARGET_H_

#include "absl/status/statusor.h"
#include "backends/cpu/codegen/llvm/cpu_target.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::cpu {

// From spec.target() ("cpu:CLASS") and unit.vector_bytes(). InvalidArgument if
// it names no class of x86-64, or vectors wider than the class has.
absl::StatusOr<CpuTarget> X86TargetOf(const DeviceSpec& spec);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_X86_X86_TARGET_H_
