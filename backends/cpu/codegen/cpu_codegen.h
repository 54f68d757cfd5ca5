// The CPU's code half: scalar tier -> LLVM IR -> machine code -> shared object.
#ifndef TILEWRIGHT_BACKENDS_CPU_CODEGEN_CPU_CODEGEN_H_
#define TILEWRIGHT_BACKENDS_CPU_CODEGEN_CPU_CODEGEN_H_

#include <memory>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/lowering/passes/expand_functions.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::cpu {

// For the feature class that spec.target() names ("cpu:x86-64-v4"); any class
// can be compiled for on any host. InvalidArgument if it names none.
//
// Legalize uses the shared default with vectors of spec.unit().vector_bytes(),
// then expands functions. Emit fails with Unimplemented where the class lacks
// an instruction (fused multiply-add below v3), with Internal if a kernel would
// call something or need more than 16 KiB of stack. Module bytes are an ELF
// shared object (backends/cpu/kernel_abi.h).
absl::StatusOr<std::unique_ptr<backends::Codegen>> CreateCpuCodegen(
    const DeviceSpec& spec);

// The functions that Legalize expands use these instructions of the class.
// Errors as CreateCpuCodegen.
absl::StatusOr<lowering::FunctionOptions> CpuFunctionOptions(
    const DeviceSpec& spec);

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_CODEGEN_CPU_CODEGEN_H_
