// The verifier of the random tests: the reference interpreter's values, each
// with a bound on what rounding may do to it in any legal order of evaluation
// (running error analysis; docs/numerics.md). A bound of 0 means: bit for bit.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TESTING_ERROR_BOUND_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TESTING_ERROR_BOUND_H_

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::lowering {

struct BoundedValue {
  Scalar value;
  // Absolute. Infinite where a comparison, rounding or index hangs on less than
  // the error before it: nothing can be said.
  double error = 0;
};

// Every element of every output, row-major. `inputs`: one per placeholder.
absl::StatusOr<std::map<TensorId, std::vector<BoundedValue>>>
EvaluateWithBounds(const TensorGraph& graph,
                   const std::map<TensorId, HostTensor>& inputs);

// Whether `got` may be the result of a right kernel: equal where the bound is
// 0, else within four times the bound.
bool Agrees(DType dtype, const BoundedValue& want, Scalar got);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TESTING_ERROR_BOUND_H_
