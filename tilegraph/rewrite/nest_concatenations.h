// Concatenations that begin where others do, as parts of each other.
//
// A dense block (Huang et al., Densely Connected Convolutional Networks, CVPR
// 2017) hands every layer the results of all layers before it: [a, b], then
// [a, b, c], then [a, b, c, d]. Each is a tensor of its own for the graph, yet
// the longest holds all others. Nested, [[[a, b], c], d], every layer writes
// its own part once, where the longest wants it (tilegraph/plan/plan_views.cc),
// and nobody copies.
//
// Those of very many parts, as the steps of a recurrence make, are joined in
// runs first: a kernel that chooses among thousands takes compilers minutes.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_NEST_CONCATENATIONS_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_NEST_CONCATENATIONS_H_

#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Replaces parts that an earlier concatenation puts behind each other along the
// same axis, too, by that, the longest first; where each of them could be
// written in its place. What still has more than 32 parts gets wholes of at
// most so many in their place.
RewrittenGraph NestConcatenations(const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_NEST_CONCATENATIONS_H_
