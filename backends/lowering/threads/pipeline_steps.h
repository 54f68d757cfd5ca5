// Loops whose schedule asks for two stages (For::Hints::stages): what a step
// brings into scratch is loaded while the step before computes. Internal to
// lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_THREADS_PIPELINE_STEPS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_THREADS_PIPELINE_STEPS_H_

#include "backends/kernel_ir/tile_ir.h"

namespace tilewright::lowering {

// Parts nests of threads that copy an argument nobody writes, each element by
// one thread, in two: one that loads into registers, which runs before the loop
// and then behind the last copy of the step before; and one that stores those,
// which stays where the copy was. The last step stands behind the loop. Loops
// inside such a loop are left as they are. Returns the number of such copies.
// The kernel means the same.
int PipelineSteps(kernel_ir::Kernel& kernel);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_THREADS_PIPELINE_STEPS_H_
