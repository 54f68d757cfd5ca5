// Windows of images, read where they lie.
//
// An unfolding (torch.nn.functional.unfold: local attention, involution, the
// convex upsampling of RAFT) holds every pixel once for each window that has
// it. No layout expresses that, so it would be copied, nine times an image for
// windows of 3 x 3.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_WINDOWS_IN_PLACE_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_WINDOWS_IN_PLACE_H_

#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Maps of windows, and of what moves make of them, read the image instead; a
// reduction of such a map alone computes it term by term. Other reductions read
// windows as they are: products pack their operands in another order.
RewrittenGraph ReadWindowsInPlace(const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_WINDOWS_IN_PLACE_H_
