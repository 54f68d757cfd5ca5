// Classifies the arithmetic of a compute and counts its operations.
#ifndef TILEWRIGHT_TILEGRAPH_COST_COMPUTE_FEATURES_H_
#define TILEWRIGHT_TILEGRAPH_COST_COMPUTE_FEATURES_H_

#include <vector>

#include "tilegraph/cost/kernel_features.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Kind, type, operations and terms; what depends on tiles is left as it is.
// `vector_dim`: along which vectors of its output lie; -1: none. `input_dims`:
// the same of each of graph.Inputs(id).
ComputeFeatures FeaturesOf(const TensorGraph& graph, TensorId id,
                           int vector_dim, const std::vector<int>& input_dims);

// By axis of the output: whether what a vector along `vector_dim` loads serves
// several positions of it, which can be rows of a register tile. Heads and
// batches of a product of matrices are none.
std::vector<bool> RowAxes(const Compute& compute, int vector_dim);

// By axis of the output: whether vectors of a contraction may lie along it:
// some operand serves all of its positions.
std::vector<bool> LaneAxes(const Compute& compute);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_COST_COMPUTE_FEATURES_H_
