// Answers to the questions of Ansor's rules about a compute, from its
// expression alone (Zheng et al., "Ansor", OSDI 2020, section 4.1; thresholds
// as TVM 0.18 has them).
#ifndef TILEWRIGHT_SKETCH_DERIVATION_COMPUTE_TRAITS_H_
#define TILEWRIGHT_SKETCH_DERIVATION_COMPUTE_TRAITS_H_

#include <cstdint>
#include <set>

#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

struct ComputeTraits {
  int64_t elements = 1;  // of the result
  int64_t steps = 1;     // that each of them is reduced over
  // Recomputing it in its readers costs next to nothing: every operand is read
  // at the compute's own axes, in their order, and neither branches nor
  // functions stand in its body.
  bool strictly_inlinable = false;
  // Operands are used again: two are the same along some axis of the result,
  // or one is and the compute reduces.
  bool needs_tiling = false;
  // Ordinals of the axes that index the constant matrices of a small linear
  // transform, as of Winograd's inputs and outputs; empty: it is none. All
  // reduce axes are among them.
  std::set<int> constant_axes;
};

// REQUIRES: `id` is a compute.
ComputeTraits TraitsOf(const TensorGraph& graph, TensorId id);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_DERIVATION_COMPUTE_TRAITS_H_
