// Checks that a TensorGraph means something: called after every rewrite in
// tests, and on everything that comes from outside.
#ifndef TILEWRIGHT_TILEGRAPH_IR_VERIFIER_H_
#define TILEWRIGHT_TILEGRAPH_IR_VERIFIER_H_

#include "absl/status/status.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Ok, or InvalidArgument naming the tensor and the first thing wrong: an extent
// below 1 or symbolic (Unimplemented), a tensor larger than 2^48 bytes, a load
// of a later tensor, a wrong number or dtype of indices, a variable that is no
// axis, a body of the wrong arity or (under a combiner) dtype, an affine index
// that can leave its tensor where no select guards it, an output that does not
// exist. Indices that only data decides (Gather) or that are not affine are
// left to evaluation. Names are unique by construction of TensorGraph.
absl::Status VerifyGraph(const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_VERIFIER_H_
