// Whether the arguments of a candidate fit its workload.
#ifndef TILEWRIGHT_MEASURE_VERIFY_CHECK_ARGUMENTS_H_
#define TILEWRIGHT_MEASURE_VERIFY_CHECK_ARGUMENTS_H_

#include <map>

#include "absl/status/status.h"
#include "measure/verify/candidate.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::measure {

// InvalidArgument if no kernel takes that tensor so: the layout is of another
// shape than the tensor, or than its filters of F(winograd, 3).
absl::Status CheckArgument(const TensorGraph& graph, TensorId tensor,
                           const Layout& layout, int winograd);

// InvalidArgument if they are not the inputs that it takes and all outputs of
// `graph`, each once and of its shape; or if one that is no constant does not
// lie as `layouts` says (row-major where they say nothing).
absl::Status CheckArguments(const TensorGraph& graph,
                            const std::map<TensorId, Layout>& layouts,
                            const Arguments& arguments);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_CHECK_ARGUMENTS_H_
