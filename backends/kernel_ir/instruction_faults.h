// Internal to the verifier: what is wrong with an instruction, taken by itself;
// empty if nothing is. REQUIRES: the registers that it reads exist.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_INSTRUCTION_FAULTS_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_INSTRUCTION_FAULTS_H_

#include <string>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir::internal {

// Operands of other number, lanes or dtypes than the operation takes.
std::string FaultOf(const ScalarKernel& kernel, const OpInst& inst);

// A source that is no byte, a table that is not 256 of them.
std::string FaultOf(const ScalarKernel& kernel, const PermuteInst& permute);

// No threads, buffers that do not exist, a source that may change, a
// destination that no block shares, other dtypes, a mask of several lanes,
// constant places outside.
std::string FaultOf(const ScalarKernel& kernel, const AsyncCopyInst& copy);

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_INSTRUCTION_FAULTS_H_
