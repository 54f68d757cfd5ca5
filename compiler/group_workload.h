// From a group of the plan to a workload with canonical names, so that groups
// of equal shape share schedule, kernel and records.
#ifndef TILEWRIGHT_COMPILER_GROUP_WORKLOAD_H_
#define TILEWRIGHT_COMPILER_GROUP_WORKLOAD_H_

#include <vector>

#include "sketch/workload.h"
#include "tilegraph/plan.h"

namespace tilewright {

struct GroupWorkload {
  sketch::Workload
      workload;  // inputs i0, i1, ...; constants c0, ...; computes t0, ...
  std::vector<TensorId> model_tensor;  // by tensor id of the workload
};

// REQUIRES: `plan` was made for `graph`.
GroupWorkload MakeGroupWorkload(const TensorGraph& graph, const Plan& plan,
                                const Group& group);

// Floating-point operations of all computes, each counted once: an operation is
// one node of a body that is not a load, an index or a cast; a multiply-add
// counts as two.
int64_t CountFlops(const TensorGraph& graph);
// Bytes that must move once: every placeholder, constant and output.
int64_t CompulsoryBytes(const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_GROUP_WORKLOAD_H_
