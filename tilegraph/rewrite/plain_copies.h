// Copies that are plain in memory, channel after channel, between what computes
// images with the channels of a pixel side by side and what needs them apart.
// Dense convolutions are fast where they lie side by side, since a vector of
// weights then serves many pixels.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_PLAIN_COPIES_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_PLAIN_COPIES_H_

#include <cstdint>

#include "tilegraph/analysis/families.h"
#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Whether at most a quarter of the lanes are empty where a tensor with so many
// channels has them in blocks.
bool ChannelsFillBlocks(int64_t channels, int64_t block);

// Whether the groups of channels of a convolution neither fill blocks nor share
// them evenly: lanes of a vector would be of groups that read other data.
bool GroupsCutBlocks(const ConvolutionRoles& convolution, int64_t block);

// Outputs of a model are plain. Gives every one that is a convolution, dense or
// in groups that are blocks or whose data convolutions leave side by side, or a
// chain of elementwise maps behind one, a copy that leaves the graph in its
// place (ComputeRole::kPlainCopy) and is a group of its own. Outputs with few
// channels, most of whose vectors would be empty, stay as they are;
// `channel_block`: PlanOptions'.
RewrittenGraph CopyConvolvedOutputs(const TensorGraph& graph,
                                    int64_t channel_block);

// Convolutions to few channels compute vectors of pixels: of neighbours
// in a plain image, where vectors of channels would be nearly empty; so do
// those whose groups cut blocks. Gives their data, if it comes from
// convolutions that leave the channels of a pixel side by side, a copy of that
// kind.
RewrittenGraph CopyDataReadByPixels(const TensorGraph& graph,
                                    int64_t channel_block);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_PLAIN_COPIES_H_
