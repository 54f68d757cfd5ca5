#include <map>
#include <set>
#include <utility>

#include "absl/types/span.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/ir/operations.h"
#include "tilegraph/plan/plan_draft.h"
#include "tilegraph/plan/row_groups.h"
#include "tilegraph/rewrite/bands/bands.h"
#include "tilegraph/rewrite/plain_copies.h"

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
  group.why = {std::move(why)};
  plan.groups.push_back(std::move(group));
}

namespace {

constexpr size_t kMaxContinuation = 32;  // maps fused in one step
// A group of more members, or of more operations per element of its output with
// all maps written into what reads them, is cut: compilers take time that grows
// with the square of straight code, and what is read twice is written twice.
constexpr size_t kMaxMembers = 64;
constexpr double kMaxOperations = 512;

// Whether `next` may follow `region` in registers; otherwise why not.
bool CanJoin(const PlanDraft& draft, TensorId next,
             const std::vector<TensorId>& region, std::string& why) {
  if (draft.IsView(next)) return why = "a consumer is a view of it", false;
  if (draft.parts_of.count(next))
    return why = "it is written where a consumer puts it", false;
  if (!draft.IsMap(next)) return why = "a consumer reduces", false;
  if (draft.group_of.count(next))
    return why = "a consumer is in another group", false;
  for (const TensorId member : region) {
    if (!ReadsElementwise(draft.graph, next, member))
      return why = "a consumer reads other elements than its own", false;
  }
  return true;
}

// The maps that continue a group ending in `last`: from its consumers to the
// first one through which everything that follows has to go. Empty, with the
// reason, if there is none such.
std::vector<TensorId> Continuation(const PlanDraft& draft, TensorId last,
                                   std::string& why) {
  if (draft.options.connect == PlanOptions::Connect::kNone)
    return why = "connections are switched off", std::vector<TensorId>();
  if (draft.is_output[last])
    return why = "its result is an output of the model",
           std::vector<TensorId>();
  std::vector<TensorId> region = {last};
  // Consumers of the region outside of it. Taken in ascending order, the last
  // one open is the one that all paths lead to.
  std::set<TensorId> open(draft.consumers[last].begin(),
                          draft.consumers[last].end());
  while (!open.empty()) {
    const TensorId next = *open.begin();
    if (region.size() > kMaxContinuation)
      return why = "what follows is too large to fuse", std::vector<TensorId>();
    if (!CanJoin(draft, next, region, why)) return {};
    open.erase(open.begin());
    region.push_back(next);
    if (open.empty()) return {region.begin() + 1, region.end()};
    if (draft.is_output[next])
      return why = "a consumer is an output of the model",
             std::vector<TensorId>();
    open.insert(draft.consumers[next].begin(), draft.consumers[next].end());
  }
  return why = "nothing reads it", std::vector<TensorId>();
}

// How large a group becomes as it grows.
class GroupSize {
 public:
  explicit GroupSize(const TensorGraph& graph) : graph_(graph) {}

  // Counts `members`, in ascending order, as following those before.
  void Add(absl::Span<const TensorId> members) {
    for (const TensorId id : members) {
      const Compute& compute = graph_.tensor(id).compute;
      double count = static_cast<double>(OperationsPerPoint(compute));
      for (const Expr& body : compute.body) {
        Visit(body, [&](const Expr& e) {
          const auto source = e.op() == Op::kLoad ? operations_.find(e.source())
                                                  : operations_.end();
          if (source != operations_.end()) count += source->second;
        });
      }
      // The result of a reduction is kept: reading it costs nothing.
      operations_[id] = compute.combiner ? 0 : count;
      last_ = count;
    }
  }
  bool IsTooLarge() const {
    return operations_.size() > kMaxMembers || last_ > kMaxOperations;
  }

 private:
  const TensorGraph& graph_;
  // By member: of one element, with the maps that it reads.
  std::map<TensorId, double> operations_;
  double last_ = 0;
};

// Chains: one compute, perhaps a reduction, followed by elementwise maps.
// Reductions first: what follows them in registers should not start a group of
// its own.
void FormChains(PlanDraft& draft) {
  for (const bool maps : {false, true}) {
    for (const Tensor& tensor : draft.graph.tensors()) {
      if (!draft.IsFree(tensor.id) || draft.IsMap(tensor.id) != maps) continue;
      std::vector<TensorId> members = {tensor.id};
      GroupSize size(draft.graph);
      size.Add(members);
      std::string why;
      for (;;) {
        const std::vector<TensorId> more =
            Continuation(draft, members.back(), why);
        if (more.empty()) break;
        size.Add(more);
        if (size.IsTooLarge()) {
          why = "it is as large as groups become";
          break;
        }
        members.insert(members.end(), more.begin(), more.end());
      }
      draft.AddGroup(std::move(members), std::move(why));
    }
  }
}

}  // namespace

void FormGroups(PlanDraft& draft) {
  // Formers of particular shapes go first; each takes free computes only.
  for (const Tensor& tensor : draft.graph.tensors()) {
    if (draft.IsFree(tensor.id) && IsBandMove(tensor))
      draft.AddGroup({tensor.id}, "it moves between host and device");
    if (draft.IsFree(tensor.id) &&
        tensor.hint.role() == ComputeRole::kPlainCopy)
      draft.AddGroup({tensor.id}, "it makes a tensor plain");
  }
  FormRowGroups(draft);
  FormChains(draft);
}

void OrderGroups(PlanDraft& draft) {
  std::vector<Group>& groups = draft.plan.groups;
  const int count = static_cast<int>(groups.size());
  std::vector<std::set<int>> waits_for(count), followers(count);
  for (int g = 0; g < count; ++g) {
    for (const TensorId input : groups[g].inputs) {
      for (const TensorId written : draft.Written(draft.Origin(input))) {
        const auto producer = draft.group_of.find(written);
        if (producer == draft.group_of.end() || producer->second == g) continue;
        waits_for[g].insert(producer->second);
        followers[producer->second].insert(g);
      }
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
