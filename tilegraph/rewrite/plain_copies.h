// Copies that are plain in memory, channel after channel, between what computes
// images with the channels of a pixel side by side and what needs them apart.
// Dense convolutions are fast where they lie side by side, since a vector of
// weights then serves many pixels.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_PLAIN_COPIES_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_PLAIN_COPIES_H_

#include <cstdint>
#include <vector>

#include "tilegraph/analysis/families.h"
#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Whether at most a quarter of the lanes are empty where a tensor with so many
// channels has them in blocks.
bool ChannelsFillBlocks(int64_t channels, int64_t block);

// Whether a convolution computes vectors of pixels, neighbours in a plain
// image: dense ones to few channels, since vectors of those would be nearly
// empty, and those whose groups of channels cut blocks. `ends_model`: at most
// maps follow.
bool IsByPixels(const Tensor& tensor, const ConvolutionRoles& convolution,
                bool ends_model, int64_t block);

// By tensor: whether a convolution that computes vectors of its channels is
// behind it, or behind a part of it.
std::vector<bool> MadeInVectors(const TensorGraph& graph, int64_t block);

// Outputs of a model are plain. Gives every one, or part of one that is a
// concatenation, that is a convolution, dense or in groups that are blocks or
// whose data convolutions leave side by side, a pool of such data, or a chain
// of elementwise maps behind one, a copy that takes its place there
// (ComputeRole::kPlainCopy) and is a group of its own. Outputs with few
// channels, most of whose vectors would be empty, stay as
// they are; `channel_block`: PlanOptions'.
RewrittenGraph CopyConvolvedOutputs(const TensorGraph& graph,
                                    int64_t channel_block);

// Gives the data of convolutions by pixels, and the operands of products of
// matrices for every channel, a copy of that kind, if they come from
// convolutions that leave the channels of a pixel side by side.
RewrittenGraph CopyDataReadByPixels(const TensorGraph& graph,
                                    int64_t channel_block);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_PLAIN_COPIES_H_
