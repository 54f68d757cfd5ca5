#include "tilegraph/plan/plan.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tilegraph/plan/plan_draft.h"

namespace tilewright {

PlanDraft::PlanDraft(const TensorGraph& graph, const PlanOptions& options,
                     const std::map<TensorId, std::string>& apart)
    : graph(graph),
      options(options),
      apart(apart),
      consumers(graph.Consumers()),
      is_output(graph.size(), false) {
  for (const TensorId id : graph.outputs()) is_output[id] = true;
}

TensorId PlanDraft::Origin(TensorId id) const {
  for (auto view = views.find(id); view != views.end(); view = views.find(id))
    id = view->second.source;
  return id;
}

TensorId PlanDraft::Root(TensorId id) const {
  id = Origin(id);
  const auto place = places.find(id);
  return place == places.end() ? id : Root(place->second.source);
}

std::vector<TensorId> PlanDraft::Written(TensorId id) const {
  const auto whole = parts_of.find(id);
  if (whole == parts_of.end()) return {id};
  std::vector<TensorId> written;
  for (const TensorId part : whole->second) {
    for (const TensorId own : Written(part)) written.push_back(own);
  }
  return written;
}

std::optional<PlanOptions::Connect> ParseConnect(std::string_view text) {
  if (text == "none") return PlanOptions::Connect::kNone;
  if (text == "register") return PlanOptions::Connect::kRegister;
  if (text == "tilegraph") return PlanOptions::Connect::kTileGraph;
  return std::nullopt;
}

Plan MakePlan(const TensorGraph& graph, const PlanOptions& options) {
  // Whether a view serves its readers shows once layouts are chosen, which
  // groups and views decide.
  for (std::map<TensorId, std::string> apart;;) {
    PlanDraft draft(graph, options, apart);
    ChooseViews(draft);
    FormGroups(draft);
    OrderGroups(draft);
    ChooseLayouts(draft);
    FindMisfits(draft);
    if (draft.misfits.empty()) {
      for (const auto& [id, view] : draft.views)
        draft.plan.views[id] = draft.Root(id);
      for (const auto& [id, place] : draft.places)
        draft.plan.views[id] = draft.Root(place.source);
      draft.plan.zeros = FindKnownZeros(graph, {});
      return std::move(draft.plan);
    }
    apart.insert(draft.misfits.begin(), draft.misfits.end());
  }
}

std::vector<TensorId> OutputsOf(const Group& group) {
  std::vector<TensorId> outputs = group.side_outputs;
  outputs.push_back(group.output);
  return outputs;
}

std::string ToString(const Plan& plan, const TensorGraph& graph) {
  const auto name = [&](TensorId id) { return graph.tensor(id).name; };
  std::string out;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    const auto join = [&](const std::vector<TensorId>& ids) {
      return absl::StrJoin(ids, " ", [&](std::string* text, TensorId id) {
        text->append(name(id));
      });
    };
    absl::StrAppend(&out, "group ", g, ": ", join(group.members),
                    "\n  reads   ", join(group.inputs), "\n");
    for (const TensorId id : OutputsOf(group))
      absl::StrAppend(&out, "  writes  ", name(id), "  ",
                      plan.layouts.at(id).ToString(), "\n");
    for (const std::string& why : group.why)
      absl::StrAppend(&out, "  ends    ", why, "\n");
    if (group.stages.empty()) continue;
    absl::StrAppend(&out, "  tile    [",
                    absl::StrJoin(group.tile_plan.tile, ", "), "] of ",
                    name(group.output), "\n");
    for (size_t s = 0; s < group.stages.size(); ++s) {
      const Stage& stage = group.stages[s];
      const std::string decided = s < group.tile_plan.stages.size()
                                      ? ToString(group.tile_plan.stages[s])
                                      : "";
      absl::StrAppend(&out, "  stage   ", join(stage.members), "  ",
                      plan.layouts.at(stage.members.back()).ToString(),
                      decided.empty() ? "" : ", ", decided, "\n");
    }
  }
  for (const auto& [view, source] : plan.views)
    absl::StrAppend(&out, "view ", name(view), " of ", name(source), "\n");
  return out;
}

}  // namespace tilewright
