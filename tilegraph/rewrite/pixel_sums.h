// A score of every pixel, as the sum of a row.
//
// Gates and maps of attention weigh each pixel by a convolution of 1 x 1 to one
// channel. Its vectors would lie along pixels, and be gathered where channels
// lie side by side. It is a sum over the channels of a pixel, and joins what
// else goes through them.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_PIXEL_SUMS_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_PIXEL_SUMS_H_

#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Makes row reductions (row_space.h) of convolutions to one channel whose
// windows are a pixel each and skip none.
RewrittenGraph SumChannelsOfPixels(const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_PIXEL_SUMS_H_
