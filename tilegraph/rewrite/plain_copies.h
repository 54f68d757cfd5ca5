// Outputs of a model lie plain in memory, channel after channel. Dense
// convolutions are fast where the channels of a pixel lie side by side, since a
// vector of weights then serves many pixels. What ends a model with one is
// therefore computed in the layout that suits it and copied.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_PLAIN_COPIES_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_PLAIN_COPIES_H_

#include <cstdint>

#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Gives every output that is a dense convolution, or a chain of elementwise
// maps behind one, a copy that leaves the graph in its place
// (ComputeRole::kPlainCopy) and is a group of its own. Outputs with few
// channels, most of whose vectors would be empty, stay as they are;
// `channel_block`: PlanOptions'.
RewrittenGraph CopyConvolvedOutputs(const TensorGraph& graph,
                                    int64_t channel_block);

// Dense convolutions to few channels compute vectors of pixels: of neighbours
// in a plain image, where vectors of channels would be nearly empty. Gives
// their data, if it comes from convolutions that leave the channels of a pixel
// side by side, a copy of that kind.
RewrittenGraph CopyDataOfNarrowConvolutions(const TensorGraph& graph,
                                            int64_t channel_block);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_PLAIN_COPIES_H_
