// How fast the computes of a kernel run once their operands are near: what
// their families (tilegraph/families.h) reach of a core's peak.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_COMPUTE_RATE_H_
#define TILEWRIGHT_TILEGRAPH_TILING_COMPUTE_RATE_H_

#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/tensor_graph.h"

namespace tilewright {

struct ComputeRate {
  // Weighted operations of one core, vectors and register tiles full.
  double ops_per_s = 0;
  // With one row in a tile it runs at 1 / (1 + rows_wanted) of that rate, with
  // several soon at all of it.
  double rows_wanted = 0;
  // Vectors lie along its output. Sums without reuse have them along their
  // terms where that serves better.
  bool along_output = true;
  // No reduction; and a reduction beside which maps cost less than on their
  // own.
  bool is_map = false, hides_maps = false;
};
ComputeRate RateOf(const TensorGraph& graph, TensorId id,
                   const DeviceSpec& spec);

// By axis of the output: whether what a vector along `vector_dim` loads serves
// several positions of it, which can be rows of a register tile. Heads and
// batches of a product of matrices are none.
std::vector<bool> RowAxes(const Compute& compute, int vector_dim);

// OperationsPerPoint, with functions (exp, tanh, ...) as the several operations
// that they are.
double WeightedOperations(const Compute& compute);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_COMPUTE_RATE_H_
