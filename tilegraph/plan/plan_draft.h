// A plan while it is being made: what the passes of MakePlan share. One file
// per pass; they run in the order below, each relying on those before it.
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_PLAN_DRAFT_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_PLAN_DRAFT_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

// A tensor that is not computed but read in its source's memory.
struct View {
  TensorId source;          // perhaps a view itself
  std::vector<Expr> index;  // of the element in the source, over own dimensions
  bool padding = false;     // also reads the source's halo
};

struct Halo {
  std::vector<int64_t> before, after;  // per dimension
};

struct PlanDraft {
  // `apart`: moves and paddings that must be computed, with the reason.
  PlanDraft(const TensorGraph& graph, const PlanOptions& options,
            const std::map<TensorId, std::string>& apart);

  bool IsCompute(TensorId id) const {
    return graph.tensor(id).kind == TensorKind::kCompute;
  }
  // A compute without reduction.
  bool IsMap(TensorId id) const {
    return IsCompute(id) && !graph.tensor(id).compute.combiner;
  }
  bool IsView(TensorId id) const { return views.count(id) > 0; }
  // A compute that no group has taken and that one has to.
  bool IsFree(TensorId id) const {
    return IsCompute(id) && !IsView(id) && !parts_of.count(id) &&
           !group_of.count(id);
  }
  // The tensor that is computed, put together or given where `id` lies.
  TensorId Origin(TensorId id) const;
  // The tensor whose memory `id` is: beyond Origin, what it is a part of, and
  // that of another.
  TensorId Root(TensorId id) const;
  // What groups write of `id`, an Origin: itself, or its parts and theirs.
  std::vector<TensorId> Written(TensorId id) const;

  // Makes `members` (ascending, all free) the next group; the last is its
  // output. `why`: the reason it ends there.
  void AddGroup(std::vector<TensorId> members, std::string why);

  const TensorGraph& graph;
  const PlanOptions& options;
  const std::map<TensorId, std::string>& apart;
  const std::vector<std::vector<TensorId>>& consumers;
  std::vector<bool> is_output;  // of the model

  // ChooseViews.
  std::map<TensorId, View> views;
  std::map<TensorId, Halo> halos;  // by root
  // Tensors that groups write where a concatenation wants them, and the
  // concatenations that are made so, with their parts.
  std::map<TensorId, View> places;
  std::map<TensorId, std::vector<TensorId>> parts_of;

  // FormGroups: index in plan.groups until OrderGroups.
  std::map<TensorId, int> group_of;

  // ChooseLayouts: views that cannot stay views; with any, the plan is made
  // anew with them apart.
  std::map<TensorId, std::string> misfits;

  Plan plan;
};

// Makes views of computes that only move elements, and of zero paddings of
// groups' results, which then keep a halo. Concatenations whose parts can all
// be written in place are not computed.
void ChooseViews(PlanDraft& draft);

// Every compute that is no view goes into one group.
void FormGroups(PlanDraft& draft);

// The order in which groups can run: Kahn's algorithm, the group whose result
// comes first in the graph going first.
void OrderGroups(PlanDraft& draft);

// Convolution outputs have their channels in blocks, or last where blocks would
// be half empty or a view of them ends in channels; what works channel by
// channel follows its operands; the rest is plain. Views lie as their sources
// do.
void ChooseLayouts(PlanDraft& draft);

// Adds to misfits the views whose readers would be slowed down more than a
// copy costs.
void FindMisfits(PlanDraft& draft);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_PLAN_DRAFT_H_
