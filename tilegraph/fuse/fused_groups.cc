#include "tilegraph/fuse/fused_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/ir/layout_view.h"
#include "tilegraph/rewrite/bands/bands.h"
#include "tilegraph/rewrite/winograd.h"

namespace tilewright {
namespace {

// Why `group` shares a kernel with no other; empty if it may.
std::string WhyIsAlone(const TensorGraph& graph, const Group& group) {
  if (IsBandMove(graph.tensor(group.output)))
    return "it moves between host and device";
  for (const TensorId member : group.members) {
    if (MayBeWinograd(graph.tensor(member)))
      return "a Winograd convolution has stages of its own";
    // Tiles of it are made of parts of tiles.
    if (AsConcatenation(graph, member)) return "it puts tensors together";
  }
  return "";
}

// Whether somebody other than those in `inside` needs `view` in memory.
template <typename Inside>
bool IsReadOutside(const TensorGraph& graph,
                   const std::vector<TensorId>& consumers, TensorId view,
                   const Inside& inside) {
  const absl::Span<const TensorId> outputs = graph.outputs();
  return std::find(outputs.begin(), outputs.end(), view) != outputs.end() ||
         std::any_of(
             consumers.begin(), consumers.end(),
             [&](TensorId consumer) { return !inside.count(consumer); });
}

// How a stage's output lies in its scratch memory.
Layout StageLayout(const Layout& planned) {
  const std::optional<Layout> dense = DenseInOrder(planned);
  return dense ? *dense : Layout::RowMajor(planned.shape());
}

}  // namespace

FusionRules::FusionRules(const TensorGraph& graph, const Plan& plan)
    : graph_(graph),
      plan_(plan),
      consumers_(graph.Consumers()),
      views_(plan.groups.size()),
      readers_(plan.groups.size()),
      through_concatenation_(plan.groups.size()),
      in_memory_(plan.groups.size()) {
  std::map<TensorId, int> group_of, output_of;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    TW_CHECK(plan.groups[g].stages.empty());
    alone_.push_back(WhyIsAlone(graph, plan.groups[g]));
    output_of[plan.groups[g].output] = static_cast<int>(g);
    for (const TensorId member : plan.groups[g].members)
      group_of[member] = static_cast<int>(g);
  }
  for (const auto& [view, source] : plan.views) {
    const auto group = output_of.find(source);
    if (group != output_of.end() && !group_of.count(view))
      views_[group->second].push_back(view);
  }
  for (size_t g = 0; g < plan.groups.size(); ++g)
    FindReaders(static_cast<int>(g), group_of);
}

void FusionRules::FindReaders(int group,
                              const std::map<TensorId, int>& group_of) {
  const TensorId output = plan_.groups[group].output;
  const absl::Span<const TensorId> outputs = graph_.outputs();
  in_memory_[group] = plan_.views.count(output) > 0;
  std::set<int> readers;
  std::set<TensorId> own = {output}, all = own;  // views of it
  for (std::vector<TensorId> open = {output}; !open.empty();) {
    const TensorId id = open.back();
    open.pop_back();
    if (std::find(outputs.begin(), outputs.end(), id) != outputs.end())
      in_memory_[group] = true;
    for (const TensorId consumer : consumers_[id]) {
      const auto reader = group_of.find(consumer);
      if (reader != group_of.end()) {
        readers.insert(reader->second);
        if (!own.count(id))
          through_concatenation_[group].insert(reader->second);
        continue;
      }
      const auto view = plan_.views.find(consumer);
      if (view != plan_.views.end() && view->second == output) {
        own.insert(consumer);
      } else {
        in_memory_[group] = true;
      }
      if (all.insert(consumer).second) open.push_back(consumer);
    }
  }
  readers_[group].assign(readers.begin(), readers.end());
}

absl::Status FusionRules::AddViews(std::vector<TensorId> views,
                                   std::map<TensorId, int>& stage_of,
                                   std::vector<Stage>& stages) const {
  // From the last view on: what reads it belongs to a stage already.
  std::sort(views.begin(), views.end());
  for (auto view = views.rbegin(); view != views.rend(); ++view) {
    std::set<int> users;
    for (const TensorId consumer : consumers_[*view]) {
      const auto user = stage_of.find(consumer);
      if (user != stage_of.end()) users.insert(user->second);
    }
    if (users.empty()) continue;  // nobody reads it
    int stage = *users.begin();
    if (users.size() > 1 || AsZeroPadding(graph_, *view)) {
      // It would lie in two ways.
      if (IsReadOutside(graph_, consumers_[*view], *view, stage_of))
        return absl::FailedPreconditionError(absl::StrCat(
            graph_.tensor(*view).name, " is read inside and outside"));
      stage = static_cast<int>(stages.size());
      stages.emplace_back();
    }
    stages[stage].members.push_back(*view);
    stage_of[*view] = stage;
  }
  return absl::OkStatus();
}

absl::StatusOr<Group> FusionRules::Fused(absl::Span<const int> groups) const {
  Group fused;
  const Group& last = plan_.groups[groups.back()];
  if (graph_.tensor(last.output).shape.empty())
    return absl::FailedPreconditionError("a scalar has no tiles");
  std::vector<TensorId> views;
  std::map<TensorId, int> stage_of;
  std::vector<Stage> stages;
  for (const int g : groups) {
    const std::string name = graph_.tensor(plan_.groups[g].output).name;
    if (!alone_[g].empty())
      return absl::FailedPreconditionError(
          absl::StrCat(name, " stays alone: ", alone_[g]));
    for (const TensorId member : plan_.groups[g].members)
      stage_of[member] = static_cast<int>(stages.size());
    stages.push_back({plan_.groups[g].members});
    if (g == groups.back()) break;
    bool leaves = in_memory_[g], stays = false;
    for (const int reader : readers_[g]) {
      if (std::find(groups.begin(), groups.end(), reader) != groups.end()) {
        if (through_concatenation_[g].count(reader))
          return absl::FailedPreconditionError(
              absl::StrCat("a concatenation holds ", name));
        stays = true;
        continue;
      }
      if (reader < groups.back())
        return absl::FailedPreconditionError(
            absl::StrCat(name, " is also read by ",
                         graph_.tensor(plan_.groups[reader].output).name,
                         ", which runs "
                         "before ",
                         graph_.tensor(last.output).name));
      leaves = true;
    }
    if (!stays)
      return absl::FailedPreconditionError(
          absl::StrCat("nothing inside reads ", name));
    if (leaves) fused.side_outputs.push_back(plan_.groups[g].output);
    views.insert(views.end(), views_[g].begin(), views_[g].end());
  }
  std::sort(fused.side_outputs.begin(), fused.side_outputs.end());
  TW_RETURN_IF_ERROR(AddViews(std::move(views), stage_of, stages));
  std::set<TensorId> members, inputs;
  for (Stage& stage : stages) {
    std::sort(stage.members.begin(), stage.members.end());
    members.insert(stage.members.begin(), stage.members.end());
  }
  // Tensors read earlier ones only.
  std::sort(stages.begin(), stages.end(), [](const Stage& a, const Stage& b) {
    return a.members.back() < b.members.back();
  });
  TW_CHECK_EQ(stages.back().members.back(), last.output);
  for (const TensorId member : members) {
    for (const TensorId input : graph_.Inputs(member)) {
      if (!members.count(input)) inputs.insert(input);
    }
  }
  fused.members.assign(members.begin(), members.end());
  fused.inputs.assign(inputs.begin(), inputs.end());
  fused.output = last.output;
  fused.why = last.why;
  fused.stages = std::move(stages);
  return fused;
}

Plan FusionRules::WithFusions(absl::Span<const Fusion> fusions) const {
  Plan result;
  result.layouts = plan_.layouts;
  result.views = plan_.views;
  result.zeros = plan_.zeros;
  std::map<int, const Fusion*> fusion_of;
  for (const Fusion& fusion : fusions) {
    for (const int g : fusion.groups)
      TW_CHECK(fusion_of.insert({g, &fusion}).second);
  }
  for (size_t g = 0; g < plan_.groups.size(); ++g) {
    const auto found = fusion_of.find(static_cast<int>(g));
    if (found == fusion_of.end()) {
      result.groups.push_back(plan_.groups[g]);
      continue;
    }
    const Fusion& fusion = *found->second;
    if (static_cast<int>(g) != fusion.groups.back()) continue;
    absl::StatusOr<Group> group = Fused(fusion.groups);
    TW_CHECK(group.ok()) << group.status().message();
    group->tile_plan = fusion.tile_plan;
    group->why.push_back(fusion.why);
    std::set<TensorId> kept, in_memory;
    for (const Stage& stage : group->stages) kept.insert(stage.members.back());
    for (const TensorId output : OutputsOf(*group)) in_memory.insert(output);
    const std::set<TensorId> inside(group->members.begin(),
                                    group->members.end());
    for (const TensorId member : inside) {
      if (in_memory.count(member) ||
          (plan_.views.count(member) &&
           IsReadOutside(graph_, consumers_[member], member, inside)))
        continue;
      result.views.erase(member);
      const auto layout = result.layouts.find(member);
      if (layout == result.layouts.end()) continue;
      if (kept.count(member)) {
        layout->second = StageLayout(layout->second);
      } else {
        result.layouts.erase(layout);
      }
    }
    result.groups.push_back(*std::move(group));
  }
  return result;
}

}  // namespace tilewright
