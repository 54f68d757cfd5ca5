// Internal to the reference: one compute, all its elements and their bounds, as
// strips (strip_program.h) on several threads.
#ifndef TILEWRIGHT_MEASURE_REFERENCE_COMPUTE_H_
#define TILEWRIGHT_MEASURE_REFERENCE_COMPUTE_H_

#include <map>

#include "measure/reference.h"
#include "tilegraph/tensor_graph.h"

namespace tilewright::measure::internal {

// `sources`: all that `tensor` loads. With options.exact, `magnitude` grows to
// the largest partial result. The same for every number of threads.
ReferenceTensor EvaluateCompute(
    const Tensor& tensor, const std::map<TensorId, ReferenceTensor>& sources,
    const ReferenceOptions& options, double& magnitude);

}  // namespace tilewright::measure::internal

#endif  // TILEWRIGHT_MEASURE_REFERENCE_COMPUTE_H_
