// Internal to the verifier: what all threads of a block do alike.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_UNIFORMITY_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_UNIFORMITY_H_

#include <vector>

#include "absl/status/status.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir::internal {

// By register: whether threads of a block may hold different values in it. What
// follows from the thread's number may differ, and what is read from memory
// that the kernel writes, and variables assigned where threads part ways.
// REQUIRES: registers exist.
std::vector<bool> DivergentRegs(const ScalarKernel& kernel);

// Ok, or Internal with the instruction of the first barrier, exchange, commit
// or wait that stands in a loop or branch that threads of a block may take
// differently.
absl::Status VerifyUniformity(const ScalarKernel& kernel);

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_UNIFORMITY_H_
