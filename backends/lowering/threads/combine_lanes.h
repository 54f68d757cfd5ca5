// Thread loops that combine (tile_ir.h: For::Place) as what lanes of a warp do:
// each has a term in a register of its own, they exchange it until all have
// the result, and update the accumulator with that. Internal to lowering.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_THREADS_COMBINE_LANES_H_
#define TILEWRIGHT_BACKENDS_LOWERING_THREADS_COMBINE_LANES_H_

#include <cstdint>
#include <map>
#include <set>

#include "backends/kernel_ir/tile_ir.h"
#include "tilegraph/ir/combiner.h"

namespace tilewright::lowering {

// All elements of a register buffer change from each thread's to those of
// `extent` lanes, `stride` apart, combined.
struct LaneExchange {
  int buffer;
  int64_t stride;
  int64_t extent;
  Combiner combiner;
};

struct CombinedLanes {
  // Nests by the variable of their outermost loop: exchanges right before them,
  // and those that idle threads run too.
  std::map<int, LaneExchange> exchanges;
  std::set<int> everywhere;
  // Register buffers that are equal in all lanes once they are read.
  std::set<int> equal_in_lanes;
};

// Replaces each nest that combines by nests for the operations in it, one
// after the other: the lanes' terms, and the update by them all. What would be
// set to the identity right before is stored once: the identity and all terms
// combined.
CombinedLanes CombineLanes(kernel_ir::Kernel& kernel);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_THREADS_COMBINE_LANES_H_
