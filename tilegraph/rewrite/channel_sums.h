// Sums over groups of channels and their pixels, channel by channel.
//
// A norm of groups (Wu and He, ECCV 2018) sums over some channels of an image
// and all pixels. Channels of a pixel lie side by side in memory, a vector of
// them at a time: of such a vector a group is a part, and a row over the group
// would have to be gathered. Sums of channels are computed in whole vectors,
// and those of a group are a few of them.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_CHANNEL_SUMS_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_CHANNEL_SUMS_H_

#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Replaces every sum over all but the first two dimensions of an image
// [n, groups * size, ...] that is reshaped to [n, groups, size, ...] by two:
// "S.channels" over the pixels, and S over the channels of a group.
RewrittenGraph SumChannelsFirst(const TensorGraph& graph);

// What computes read of groups while they go through the channels of an image,
// M[n, c / size, 0, ...], is in "M.channels" for every channel.
RewrittenGraph SpreadOverChannels(const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_CHANNEL_SUMS_H_
