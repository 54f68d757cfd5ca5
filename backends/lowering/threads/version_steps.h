// Loops whose schedule asks for several buffers (For::Hints::buffers): copies
// of later steps come into other versions of their scratch while a step
// computes. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_THREADS_VERSION_STEPS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_THREADS_VERSION_STEPS_H_

#include "backends/kernel_ir/tile_ir.h"

namespace tilewright::lowering {

// Gives scratch that a step fills from arguments nobody writes, and then reads,
// as many versions as the loop has buffers or steps, if these are fewer. A loop
// before it copies for the first steps but one; each step copies for the one
// that is `versions` - 1 ahead, if there is one, and then computes
// (For::Turns). Scratch stays as it is if its part depends on the step, or if
// what a step has left there is read outside of it. Loops inside such a loop
// are left alone. Returns the number of such copies. The kernel means the same.
int VersionSteps(kernel_ir::Kernel& kernel);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_THREADS_VERSION_STEPS_H_
