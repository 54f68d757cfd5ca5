// How a tile of a tensor lies in the scratch memory of a task: what generators
// of schedules make, and what the cost model counts.
#ifndef TILEWRIGHT_TILEGRAPH_IR_SCRATCH_LAYOUT_H_
#define TILEWRIGHT_TILEGRAPH_IR_SCRATCH_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "tilegraph/ir/layout.h"

namespace tilewright {

// `whole`, the layout of a tensor, for a box of its elements: their order in
// memory is the same, without halo.
Layout LayoutOfBox(const Layout& whole, const std::vector<int64_t>& extents);

// The same in scratch: runs of elements begin at cache lines, and not at the
// same sets of a cache.
Layout LayoutInScratch(const Layout& whole, const std::vector<int64_t>& extents,
                       int64_t element_bytes);

// The bytes of LayoutInScratch; null: the tensor is row-major.
int64_t ScratchBytes(const Layout* whole, const std::vector<int64_t>& extents,
                     int64_t element_bytes);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_SCRATCH_LAYOUT_H_
