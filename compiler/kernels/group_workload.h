// From a group of the plan to the workload that its KernelKey
// (tilegraph/plan/canonical_group.h) is the text of, so that groups of equal
// shape share schedule, kernel and records.
#ifndef TILEWRIGHT_COMPILER_KERNELS_GROUP_WORKLOAD_H_
#define TILEWRIGHT_COMPILER_KERNELS_GROUP_WORKLOAD_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "sketch/trace/fused_wishes.h"
#include "sketch/trace/workload.h"
#include "tilegraph/plan/block_tile.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

struct GroupWorkload {
  sketch::Workload
      workload;  // inputs i0, i1, ...; constants c0, ...; computes t0, ...
  // By tensor id of the workload: which of the model's it is, and where in that
  // one's buffer the workload's begins (a multiple of 64), so that kernels that
  // differ only in the place of a part are one kernel.
  std::vector<TensorId> model_tensor;
  std::vector<int64_t> offset_bytes;
  // For a group with stages on a CPU: the plan's wishes for them.
  std::optional<sketch::FusedWishes> wishes;
  // For a group in blocks of threads: the plan's, in tensors of the workload.
  std::optional<BlockTile> block;
  bool is_fused = false;  // has stages: what has no kernel is taken apart
};

// Inputs have the layouts and the known zeros that the plan says. REQUIRES:
// `plan` was made for `graph`.
GroupWorkload MakeGroupWorkload(const TensorGraph& graph, const Plan& plan,
                                const Group& group);

// Floating-point operations of all computes, each counted once: an operation is
// one node of a body that is not a load, an index or a cast; a multiply-add
// counts as two.
int64_t CountFlops(const TensorGraph& graph);
// Bytes that must move once: every placeholder, constant and output.
int64_t CompulsoryBytes(const TensorGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_KERNELS_GROUP_WORKLOAD_H_
