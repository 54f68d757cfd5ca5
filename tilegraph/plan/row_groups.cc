#include "tilegraph/plan/row_groups.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tilegraph/analysis/access.h"
#include "tilegraph/analysis/row_space.h"

namespace tilewright {
namespace {

constexpr size_t kMaxMembers = 48;

class RowGroupFormer {
 public:
  explicit RowGroupFormer(PlanDraft& draft) : draft_(draft) {}

  void From(TensorId seed) {
    std::set<TensorId> members = {seed};
    std::set<TensorId> best;
    std::string why;
    while (members.size() < kMaxMembers) {
      const std::vector<TensorId> open = Open(members);
      if (open.size() == 1) best = members;
      const TensorId next = NextConsumer(members, open);
      if (next < 0) {
        why = open.size() == 1 && draft_.is_output[open[0]]
                  ? "its result is an output of the model"
                  : "nothing else follows";
        break;
      }
      members.insert(next);
      if (!MayBeMember(next) || !KeepsToRows(members)) {
        why = "a consumer needs other rows than its own";
        break;
      }
    }
    if (best.size() < 2) return;
    AddProducers(best);
    draft_.AddGroup({best.begin(), best.end()}, std::move(why));
  }

 private:
  // Members that something outside needs.
  std::vector<TensorId> Open(const std::set<TensorId>& members) const {
    std::vector<TensorId> open;
    for (const TensorId id : members) {
      const std::vector<TensorId>& consumers = draft_.consumers[id];
      if (draft_.is_output[id] ||
          std::any_of(consumers.begin(), consumers.end(),
                      [&](TensorId c) { return !members.count(c); }))
        open.push_back(id);
    }
    return open;
  }

  // The first consumer outside; -1: none, or an output of the model is in the
  // way of a group with one exit.
  TensorId NextConsumer(const std::set<TensorId>& members,
                        const std::vector<TensorId>& open) const {
    TensorId next = -1;
    for (const TensorId id : open) {
      if (draft_.is_output[id]) return -1;
      for (const TensorId consumer : draft_.consumers[id]) {
        if (!members.count(consumer) && (next < 0 || consumer < next))
          next = consumer;
      }
    }
    return next;
  }

  bool MayBeMember(TensorId id) const {
    if (!draft_.IsFree(id)) return false;
    return draft_.IsMap(id)
               ? ReadsPlainly(draft_.graph, id) && !ContinuesProduct(id)
               : IsRowReduction(draft_.graph, id);
  }

  bool KeepsToRows(const std::set<TensorId>& members) const {
    return FindRows(draft_.graph,
                    std::vector<TensorId>(members.begin(), members.end()))
        .has_value();
  }

  // Whether the map would end the group of a product, or of any other
  // reduction but those of rows.
  bool ContinuesProduct(TensorId id) const {
    for (const TensorId input : draft_.graph.Inputs(id)) {
      if (!draft_.IsFree(input) || draft_.consumers[input].size() != 1 ||
          !ReadsElementwise(draft_.graph, id, input))
        continue;
      if (draft_.IsMap(input) ? ContinuesProduct(input)
                              : !IsRowReduction(draft_.graph, input))
        return true;
    }
    return false;
  }

  // Maps and row reductions that only members read, row by row.
  void AddProducers(std::set<TensorId>& members) const {
    while (members.size() < kMaxMembers) {
      const std::optional<TensorId> producer = NextProducer(members);
      if (!producer) return;
      members.insert(*producer);
    }
  }

  // The first one found, from the last member back.
  std::optional<TensorId> NextProducer(
      const std::set<TensorId>& members) const {
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      for (const TensorId input : draft_.graph.Inputs(*member)) {
        if (members.count(input) || !MayPrecede(input, members)) continue;
        std::set<TensorId> more = members;
        more.insert(input);
        if (KeepsToRows(more)) return input;
      }
    }
    return std::nullopt;
  }

  bool MayPrecede(TensorId id, const std::set<TensorId>& members) const {
    const std::vector<TensorId>& consumers = draft_.consumers[id];
    return !draft_.is_output[id] && MayBeMember(id) &&
           std::all_of(consumers.begin(), consumers.end(),
                       [&](TensorId c) { return members.count(c) > 0; });
  }

  PlanDraft& draft_;
};

}  // namespace

void FormRowGroups(PlanDraft& draft) {
  if (draft.options.connect == PlanOptions::Connect::kNone) return;
  RowGroupFormer former(draft);
  for (const Tensor& tensor : draft.graph.tensors()) {
    if (draft.IsFree(tensor.id) && IsRowReduction(draft.graph, tensor.id))
      former.From(tensor.id);
  }
}

}  // namespace tilewright
