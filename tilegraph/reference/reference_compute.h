// Internal to the reference: one compute, all its elements and their bounds, as
// strips (bytecode.h) on several threads.
#ifndef TILEWRIGHT_TILEGRAPH_REFERENCE_REFERENCE_COMPUTE_H_
#define TILEWRIGHT_TILEGRAPH_REFERENCE_REFERENCE_COMPUTE_H_

#include <map>

#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/reference/reference.h"

namespace tilewright::reference_internal {

// `sources`: all that `tensor` loads. With options.exact, `magnitude` grows to
// the largest partial result. The same for every number of threads.
ReferenceTensor EvaluateCompute(
    const Tensor& tensor, const std::map<TensorId, ReferenceTensor>& sources,
    const ReferenceOptions& options, double& magnitude);

}  // namespace tilewright::reference_internal

#endif  // TILEWRIGHT_TILEGRAPH_REFERENCE_REFERENCE_COMPUTE_H_
