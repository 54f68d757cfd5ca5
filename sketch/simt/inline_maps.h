// Maps that one other compute reads go into it. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_SIMT_INLINE_MAPS_H_
#define TILEWRIGHT_SKETCH_SIMT_INLINE_MAPS_H_

#include <map>
#include <string>
#include <vector>

#include "sketch/replay/growing_trace.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// Inlines them, but for what sums read again and again: computed once, it
// leaves multiply-adds alone in their loops, and zeros around an operand need
// no guard there. Such a map stays a block: for itself if it reads what the
// group computes, else to be copied into scratch with the operand, a step at a
// time. Returns the names of the latter by the block of the sums that reads
// them. REQUIRES: nothing is scheduled yet.
std::map<std::string, std::vector<std::string>> InlineMaps(
    GrowingTrace& trace, const TensorGraph& graph);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_INLINE_MAPS_H_
