// Pools whose windows lie beside each other, as sums of rows.
//
// Pyramids of pools (He et al., Spatial Pyramid Pooling, TPAMI 2015) and
// downsampling read windows that do not overlap. In an image whose channels do
// not lie side by side a vector of results would be gathered from as many
// windows; the elements of one are rows of neighbours.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_WINDOW_ROWS_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_WINDOW_ROWS_H_

#include <cstdint>

#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Has pools of disjoint windows that fill their image read it as "P.windows",
// with two dimensions for each that windows divide: the window, and the place
// in it. Not those behind convolutions that leave channels side by side;
// `channel_block`: PlanOptions'.
RewrittenGraph SplitIntoWindows(const TensorGraph& graph,
                                int64_t channel_block);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_WINDOW_ROWS_H_
