// The planning pass that lets softmax, norms and reductions over the same rows
// share a kernel. Internal to plan.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_ROW_GROUPS_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_ROW_GROUPS_H_

#include "tilegraph/plan/plan_draft.h"

namespace tilewright {

// From every row reduction on: the most of what follows that keeps to its rows
// (row_space.h) and leaves through one tensor, and before it the maps and row
// reductions that only this group reads. Maps that continue a product stay with
// the product.
void FormRowGroups(PlanDraft& draft);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_ROW_GROUPS_H_
