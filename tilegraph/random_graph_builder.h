// Draws one graph. Private to random_graph.
#ifndef TILEWRIGHT_TILEGRAPH_RANDOM_GRAPH_BUILDER_H_
#define TILEWRIGHT_TILEGRAPH_RANDOM_GRAPH_BUILDER_H_

#include <cstdint>

#include "tilegraph/random_graph.h"

namespace tilewright {

TensorGraph BuildOnce(const GraphShape& shape, uint64_t seed,
                      const RandomGraphOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_RANDOM_GRAPH_BUILDER_H_
