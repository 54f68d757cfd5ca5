// Runs of neighbours in dense layouts, whose strides follow from their digits:
// what lies side by side in memory, and along which dimension.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_LAYOUT_RUNS_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_LAYOUT_RUNS_H_

#include <cstdint>

#include "tilegraph/ir/layout.h"

namespace tilewright {

// Elements in a row, 1 if there is but one.
int64_t RunLength(const Layout& dense);

// Whether neighbours in memory are no neighbours along their dimension, but
// every second, say; or so few that they fill no vector.
bool EndsInShortRuns(const Layout& dense);

// Whether rows of the last dimension stay whole.
bool EndsAsPlain(const Layout& dense);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_LAYOUT_RUNS_H_
