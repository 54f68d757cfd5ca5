// Internal to the verifier: asynchronous copies, taken by themselves.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_VERIFY_COPY_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_VERIFY_COPY_H_

#include <string>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir::internal {

// What is wrong with it: no threads, buffers that do not exist, a source that
// may change, a destination that no block shares, other dtypes, a mask of
// several lanes, constant places outside; empty if nothing is. REQUIRES: its
// registers exist.
std::string FaultOf(const ScalarKernel& kernel, const AsyncCopyInst& copy);

}  // namespace tilewright::kernel_ir::internal

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_VERIFY_COPY_H_
