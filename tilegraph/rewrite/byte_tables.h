// Functions of one byte as tables.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_BYTE_TABLES_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_BYTE_TABLES_H_

#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// What elementwise computes make of one element of 8 bits, and is 8 bits again,
// takes 256 values: an activation between quantized layers, which dequantizes,
// computes and quantizes, perhaps several times. Where that takes at least
// `least_operations`, each is evaluated, every operation rounded as in kernels,
// and the function becomes a constant that is read at the byte:
//   Y: u8[...] = compute (...) { Y.table[cast:i64(X[...])] }
// A quotient counts as 6 operations, a function such as exp as 12.
RewrittenGraph TabulateFunctionsOfBytes(const TensorGraph& graph,
                                        int least_operations);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_BYTE_TABLES_H_
