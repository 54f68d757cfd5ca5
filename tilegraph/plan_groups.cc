#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tilegraph/plan_draft.h"

namespace tilewright {

void PlanDraft::AddGroup(std::vector<TensorId> members, std::string why) {
  Group group;
  std::set<TensorId> inputs;
  for (const TensorId member : members) {
    group_of[member] = static_cast<int>(plan.groups.size());
    for (const TensorId input : graph.Inputs(member)) inputs.insert(input);
  }
  for (const TensorId member : members) inputs.erase(member);
  group.inputs.assign(inputs.begin(), inputs.end());
  group.output = members.back();
  group.members = std::move(members);
  group.why = std::move(why);
  plan.groups.push_back(std::move(group));
}

namespace {

// The consumer that continues the chain ending in `last`, or -1 with the
// reason.
TensorId Next(const PlanDraft& draft, TensorId last, std::string& why) {
  if (draft.options.connect == PlanOptions::Connect::kNone)
    return why = "connections are switched off", -1;
  if (draft.is_output[last])
    return why = "its result is an output of the model", -1;
  const std::vector<TensorId>& consumers = draft.consumers[last];
  if (consumers.size() != 1)
    return why =
               absl::StrCat("its result has ", consumers.size(), " consumers"),
           -1;
  const TensorId next = consumers[0];
  if (draft.IsView(next)) return why = "its consumer is a view of it", -1;
  if (!draft.IsMap(next)) return why = "its consumer reduces", -1;
  if (!ReadsElementwise(draft.graph, next, last))
    return why = "its consumer reads other elements than its own", -1;
  if (draft.group_of.count(next))
    return why = "its consumer already ends another group", -1;
  return next;
}

// Chains: one compute, perhaps a reduction, followed by elementwise maps.
// Reductions first: what follows them in registers should not start a group of
// its own.
void FormChains(PlanDraft& draft) {
  for (const bool maps : {false, true}) {
    for (const Tensor& tensor : draft.graph.tensors()) {
      if (!draft.IsFree(tensor.id) || draft.IsMap(tensor.id) != maps) continue;
      std::vector<TensorId> members;
      std::string why;
      for (TensorId last = tensor.id; last >= 0;
           last = Next(draft, last, why)) {
        members.push_back(last);
      }
      draft.AddGroup(std::move(members), std::move(why));
    }
  }
}

}  // namespace

void FormGroups(PlanDraft& draft) {
  // Formers of particular shapes go first; each takes free computes only.
  FormChains(draft);
}

void OrderGroups(PlanDraft& draft) {
  std::vector<Group>& groups = draft.plan.groups;
  const int count = static_cast<int>(groups.size());
  std::vector<std::set<int>> waits_for(count), followers(count);
  for (int g = 0; g < count; ++g) {
    for (const TensorId input : groups[g].inputs) {
      const auto producer = draft.group_of.find(draft.Root(input));
      if (producer == draft.group_of.end() || producer->second == g) continue;
      waits_for[g].insert(producer->second);
      followers[producer->second].insert(g);
    }
  }
  std::set<std::pair<TensorId, int>> ready;
  for (int g = 0; g < count; ++g) {
    if (waits_for[g].empty()) ready.insert({groups[g].output, g});
  }
  std::vector<Group> ordered;
  while (!ready.empty()) {
    const int g = ready.begin()->second;
    ready.erase(ready.begin());
    for (const int follower : followers[g]) {
      waits_for[follower].erase(g);
      if (waits_for[follower].empty())
        ready.insert({groups[follower].output, follower});
    }
    ordered.push_back(std::move(groups[g]));
  }
  groups = std::move(ordered);
}

}  // namespace tilewright
