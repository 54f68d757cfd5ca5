// A group of a plan in canonical order: with it groups of equal shape have
// equal keys, and what was found for one is renamed for another.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_CANONICAL_GROUP_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_CANONICAL_GROUP_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tilegraph/ir/layout.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/kernel_key.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

struct CanonicalGroup {
  // Tensors of the model: first those that members load and do not compute, in
  // order of first appearance and constants last, then the members. The order
  // must not depend on the model's numbering of inputs.
  std::vector<TensorId> tensors;
  int arguments = 0;  // of the tensors: loaded and no constants
  int constants = 0;  // behind them
  // By tensor of the model, of arguments and outputs: how those lie for the
  // kernel that are not row-major. A part of a larger buffer begins
  // `offset_bytes` in it (a multiple of 64; 0 where absent), so that kernels
  // that differ only in the place of a part are one kernel.
  std::map<TensorId, Layout> layouts;
  std::map<TensorId, int64_t> offset_bytes;

  // "i0", "i1", ... of arguments, "c0", ... of constants, "t0", ... of members.
  std::string Name(int place) const;
};

// Arguments and outputs lie as the plan says. REQUIRES: `plan` was made for
// `graph`.
CanonicalGroup Canonicalize(const TensorGraph& graph, const Plan& plan,
                            const Group& group);

// The key of the kernel that computes `group`. REQUIRES: `canonical` is its
// canonical form.
KernelKey KernelKeyOf(const TensorGraph& graph, const Plan& plan,
                      const Group& group, const CanonicalGroup& canonical);
KernelKey KernelKeyOf(const TensorGraph& graph, const Plan& plan,
                      const Group& group);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_CANONICAL_GROUP_H_
