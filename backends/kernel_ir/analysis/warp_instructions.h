// The instructions that the warps of a block issue, from its scalar tier.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_WARP_INSTRUCTIONS_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_WARP_INSTRUCTIONS_H_

#include <cstdint>

#include "backends/kernel_ir/scalar_ir.h"

namespace tilewright::kernel_ir {

// Of block `task`, by all of its warps that have an active thread: one for each
// element of what an instruction computes, and for each access of up to 16
// bytes; kDivisionInstructions for divisions and square roots of floats. What
// only renames, constants among it, is none. A loop counts as its first turn
// times their number. REQUIRES: kernel.has_threads(), verified.
inline constexpr double kDivisionInstructions = 9;
double WarpInstructions(const ScalarKernel& kernel, int64_t task);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_WARP_INSTRUCTIONS_H_
