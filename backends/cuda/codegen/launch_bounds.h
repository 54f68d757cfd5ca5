// What ptxas may be told of a kernel that it has spilled registers of.
//
// Untold, it aims at blocks of which a core has no room for so many: it does
// not know the shared memory that a launch asks for, and spills to make room
// for them. And with more registers than values need it moves more loads ahead,
// now and then a few too many.
#ifndef TILEWRIGHT_BACKENDS_CUDA_CODEGEN_LAUNCH_BOUNDS_H_
#define TILEWRIGHT_BACKENDS_CUDA_CODEGEN_LAUNCH_BOUNDS_H_

#include <cstdint>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/gpu/hardware/occupancy.h"

namespace tilewright::cuda {

// Blocks of a core to leave room for (the second number of __launch_bounds__),
// of a kernel of `blocks` in all that takes `spilled` and spills; first those
// to try first. As many as are resident, of those that a core gets; then, in
// fewer registers but more than it has, more; then fewer. Each leaves a thread
// another number of registers.
std::vector<int64_t> BlocksToLeaveRoomFor(const ComputeUnit& unit,
                                          const BlockResources& spilled,
                                          int64_t blocks);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_CODEGEN_LAUNCH_BOUNDS_H_
