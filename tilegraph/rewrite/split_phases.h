// Sums whose elements read other places for each rest of their index, as
// transposed convolutions do: output 2 * q + r has the weights r and the inputs
// from q on. Tiles of such an output would read no box of either, those of each
// rest alone do.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_SPLIT_PHASES_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_SPLIT_PHASES_H_

#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Replaces each sum T with axes i that its body has only as (i + c) floordiv s
// in some loads and (i + c) floormod s in others, by two computes: "T.phases",
// whose first axes are over the rests and whose others of that kind are over
// the quotients, and T, which takes each element from there. T.phases has
// elements beside those of T where c or the extent is no multiple of s; they
// read what other elements of the same quotient or rest read.
RewrittenGraph SplitPhases(const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_SPLIT_PHASES_H_
