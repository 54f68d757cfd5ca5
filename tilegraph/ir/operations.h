// How many arithmetic operations an expression stands for: what FLOP counts and
// cost models go by.
#ifndef TILEWRIGHT_TILEGRAPH_IR_OPERATIONS_H_
#define TILEWRIGHT_TILEGRAPH_IR_OPERATIONS_H_

#include <cstdint>

#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Operations of one evaluation of a compute's body: every operator once,
// functions as one; casts and indices are free, a select counts as its longer
// branch.
int64_t ValueOperations(const Expr& body);

// Of an element, along all reduce axes; 1 if nothing is reduced.
int64_t TermsOf(const Compute& compute);

// Evaluations of a compute's body: its elements times the terms of each.
int64_t Points(const Tensor& compute);

// Operations of one evaluation of all bodies and of a step of the combiner.
int64_t OperationsPerPoint(const Compute& compute);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_OPERATIONS_H_
