// Sums of many terms in two steps (split-K): partial sums of slices of the
// terms, then the sums of these. Devices with many cores have more tasks side
// by side, where a sum has few elements.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_SPLIT_TERMS_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_SPLIT_TERMS_H_

#include <cstdint>
#include <functional>

#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Whether the compute is a sum whose longest reduce axis has that many slices
// of equal length, more than one term each.
bool CanSplitTerms(const Tensor& tensor, int64_t slices);

// Replaces each sum by two: "T.slices", of the accumulator's type, whose first
// axis is over `slices_of` its tensor, and T, which sums along that axis. A sum
// of one slice stays. REQUIRES: CanSplitTerms of what it says.
RewrittenGraph SplitTerms(
    const TensorGraph& graph,
    const std::function<int64_t(const Tensor&)>& slices_of);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_SPLIT_TERMS_H_
