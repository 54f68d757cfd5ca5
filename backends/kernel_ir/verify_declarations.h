// Internal to the verifier: what a kernel has before its first instruction.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_VERIFY_DECLARATIONS_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_VERIFY_DECLARATIONS_H_

#include "absl/status/status.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir::internal {

// Ok, or Internal: buffers out of order, beyond the arena or on top of each
// other, registers of no lanes or of storage dtypes, a negative number of
// tasks, threads that make no warps.
absl::Status VerifyDeclarations(const ScalarKernel& kernel);

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_VERIFY_DECLARATIONS_H_
