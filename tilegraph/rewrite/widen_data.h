// Data in a 16-bit type that sums of products use again and again.
//
// Arithmetic is f32. A contraction takes elements of its data one by one, for a
// vector of results each, and a conversion of one costs as much as that of a
// vector: 3x3 convolutions of f16 ran at 30 % of the peak. Converted once,
// several together, they cost little. The weights of dense convolutions, which
// Winograd's tiles may take, are converted when compiling; other constants stay
// as they are, since they are read in vectors, and often from memory.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_WIDEN_DATA_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_WIDEN_DATA_H_

#include "absl/types/span.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Every sum that casts elements of such a tensor, of one of these types, to
// f32, each 16 times or more on average, reads them from that tensor in f32,
// "NAME.f32". Results do not change.
RewrittenGraph WidenReusedData(const TensorGraph& graph,
                               absl::Span<const DType> narrow);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_WIDEN_DATA_H_
