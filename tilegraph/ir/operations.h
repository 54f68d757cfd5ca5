// How many arithmetic operations an expression stands for: what FLOP counts and
// cost models go by.
#ifndef TILEWRIGHT_TILEGRAPH_IR_OPERATIONS_H_
#define TILEWRIGHT_TILEGRAPH_IR_OPERATIONS_H_

#include <cstdint>

#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Of one evaluation of a compute's body: every operator once, functions as one;
// casts and indices are free, of a select the longer branch counts.
int64_t ValueOperations(const Expr& body);

// Of one evaluation of all bodies, and the step of the combiner.
int64_t OperationsPerPoint(const Compute& compute);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_OPERATIONS_H_
