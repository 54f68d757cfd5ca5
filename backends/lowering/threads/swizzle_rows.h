// Puts elements of scratch where the schedule asks for (tile_ir.h:
// Buffer::swizzle). Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_THREADS_SWIZZLE_ROWS_H_
#define TILEWRIGHT_BACKENDS_LOWERING_THREADS_SWIZZLE_ROWS_H_

#include <set>

#include "backends/kernel_ir/tile_ir.h"

namespace tilewright::lowering {

// Replaces every index of a swizzled buffer by that of the element's place, but
// of those in `own`, which threads have for themselves. Behind PlanThreads: the
// new indices no longer tell which thread has an element.
void SwizzleRows(kernel_ir::Kernel& kernel, const std::set<int>& own);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_THREADS_SWIZZLE_ROWS_H_
