// Whose memory a tensor is.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_MEMORY_OF_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_MEMORY_OF_H_

#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// Itself, or what it is a view of.
inline TensorId MemoryOf(const Plan& plan, TensorId id) {
  const auto view = plan.views.find(id);
  return view == plan.views.end() ? id : view->second;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_MEMORY_OF_H_
