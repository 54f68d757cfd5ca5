// Maps that one other compute reads go into it. Internal to sketch.
#ifndef TILEWRIGHT_SKETCH_SIMT_INLINE_MAPS_H_
#define TILEWRIGHT_SKETCH_SIMT_INLINE_MAPS_H_

#include <map>
#include <string>

#include "sketch/replay/growing_trace.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// Inlines them, but for zeros around an operand that sums read again and again:
// copied into scratch with its zeros, it needs no guard in the sums. Those stay
// blocks; returns their names by the block of the sums that reads them.
// REQUIRES: nothing is scheduled yet.
std::map<std::string, std::string> InlineMaps(GrowingTrace& trace,
                                              const TensorGraph& graph);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_INLINE_MAPS_H_
