// Whether a graph computes small integers without rounding, so that results of
// every order of evaluation are equal.
#ifndef TILEWRIGHT_TILEGRAPH_ANALYSIS_EXACT_INTEGERS_H_
#define TILEWRIGHT_TILEGRAPH_ANALYSIS_EXACT_INTEGERS_H_

#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Whether integers stay exact through `graph`: ring operations, max, min,
// moves, comparisons and integer constants only.
bool IsExactOnIntegers(const TensorGraph& graph);

// The largest magnitude up to which all integers are exact in every float dtype
// that a value of `graph` is kept in.
double ExactLimit(const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_ANALYSIS_EXACT_INTEGERS_H_
