// Proves that asynchronous copies have come before they are read.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_VERIFY_WAITS_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_VERIFY_WAITS_H_

#include "absl/status/status.h"
#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

// Ok, or Internal with both instructions: a load of an element of scratch that
// an asynchronous copy may still be bringing. Every load must lie behind a wait
// that covers the copy's group, and a barrier behind that, or touch other
// elements. Follows index arithmetic by ranges, and loops that hold commits or
// waits iteration by iteration; where ranges say too little, a kernel that is
// right is refused. Where some threads or lanes are kept away, the others are
// taken to stay in the version of the buffer (ScalarBuffer::versions) that the
// access begins in. Of loops of more than some hundred iterations it follows
// the first and the last ones. REQUIRES: VerifyScalarKernel(kernel).ok().
absl::Status VerifyWaits(const ScalarKernel& kernel);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_VERIFY_WAITS_H_
