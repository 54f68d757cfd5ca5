// Where the threads of a block have to wait for each other. Internal to
// lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_THREADS_PLACE_BARRIERS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_THREADS_PLACE_BARRIERS_H_

#include <set>

#include "backends/kernel_ir/tile_ir.h"

namespace tilewright::lowering {

// The statements that a barrier stands right before: nests of thread loops and
// what the first thread does, where they touch elements of `shared` buffers
// (by id) that others may have touched since the last barrier, one of them
// writing; also those of the iteration before. Steps that use versions of
// buffers in turn (For::Turns) have one at their start, before all else. No
// barrier stands between uses by which each element has the same thread.
// Barriers stand as late as they can; all threads reach them.
std::set<const kernel_ir::Stmt*> PlaceBarriers(const kernel_ir::Kernel& kernel,
                                               const std::set<int>& shared);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_THREADS_PLACE_BARRIERS_H_
