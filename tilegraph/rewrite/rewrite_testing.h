// What tests of rewrites have in common.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_REWRITE_TESTING_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_REWRITE_TESTING_H_

#include <cstdint>
#include <string>

#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// An empty graph, and a failure, if the text is wrong.
TensorGraph Parsed(const std::string& text);

// Fails unless `rewritten` is a graph whose results are those of `graph`, to
// the bit: of drawn whole numbers, so that no order of sums matters.
void ExpectSameResults(const TensorGraph& graph,
                       const RewrittenGraph& rewritten, uint64_t seed = 1);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_REWRITE_TESTING_H_
