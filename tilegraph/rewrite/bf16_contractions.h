// Contractions of f32 with operands rounded to bf16: a reduced precision that
// the user must allow (docs/numerics.md). Sums stay in f32.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_BF16_CONTRACTIONS_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_BF16_CONTRACTIONS_H_

#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Rewrites every sum of products of a tensor with a constant that a
// dot intrinsic can do (tilegraph/ir/intrinsics.h): the terms are those along
// the last dimension of the tensor (a matrix product), or along the channels of
// a convolution, in whole groups. Constants are rounded here; the tensor is
// rounded by a compute of its own, hint "bf16", before any padding, so that it
// can be written where the tensor is made.
RewrittenGraph RoundContractionsToBf16(const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_BF16_CONTRACTIONS_H_
