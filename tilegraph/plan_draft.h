// A plan while it is being made: what the passes of MakePlan share. One file
// per pass; they run in the order below, each relying on those before it.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_DRAFT_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_DRAFT_H_

#include <map>
#include <set>
#include <vector>

#include "tilegraph/access.h"
#include "tilegraph/plan.h"
#include "tilegraph/tensor_graph.h"

namespace tilewright {

struct Halo {
  std::vector<int64_t> before, after;  // per dimension
};

struct PlanDraft {
  PlanDraft(const TensorGraph& graph, const PlanOptions& options);

  bool IsCompute(TensorId id) const {
    return graph.tensor(id).kind == TensorKind::kCompute;
  }
  // A compute without reduction.
  bool IsMap(TensorId id) const {
    return IsCompute(id) && !graph.tensor(id).compute.combiner;
  }
  bool IsView(TensorId id) const { return plan.views.count(id) > 0; }
  // A compute that no group has taken and that is not a view.
  bool IsFree(TensorId id) const {
    return IsCompute(id) && !IsView(id) && !group_of.count(id);
  }
  // The tensor whose memory `id` is.
  TensorId Root(TensorId id) const;

  // Makes `members` (ascending, all free) the next group; the last is its
  // output. `why`: the reason it ends there.
  void AddGroup(std::vector<TensorId> members, std::string why);

  const TensorGraph& graph;
  const PlanOptions& options;
  const std::vector<std::vector<TensorId>> consumers;
  std::vector<bool> is_output;  // of the model

  // ChooseViews.
  std::set<TensorId> must_be_plain;
  std::map<TensorId, ZeroPadding> paddings;  // by view
  std::map<TensorId, Halo> halos;            // by source

  // FormGroups: index in plan.groups until OrderGroups.
  std::map<TensorId, int> group_of;

  Plan plan;
};

// Reshapes become views; so do zero paddings of another group's result, which
// then keeps a halo. plan.views holds direct sources until ChooseLayouts.
void ChooseViews(PlanDraft& draft);

// Every compute that is no view goes into one group.
void FormGroups(PlanDraft& draft);

// The order in which groups can run: Kahn's algorithm, the group whose result
// comes first in the graph going first.
void OrderGroups(PlanDraft& draft);

// Convolution outputs, and what follows them with the same channels, are
// blocked by channel; the rest is plain. Resolves chains of views.
void ChooseLayouts(PlanDraft& draft);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_DRAFT_H_
