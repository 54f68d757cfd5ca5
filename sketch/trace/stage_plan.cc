#include "sketch/trace/stage_plan.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright::sketch {
namespace {

absl::Status CheckStages(const Workload& workload) {
  const TensorGraph& graph = workload.graph;
  std::set<TensorId> results, computed;
  for (const std::vector<TensorId>& stage : workload.stages) {
    computed.insert(stage.begin(), stage.end());
    results.insert(stage.back());
    for (const TensorId member : stage) {
      for (const TensorId input : graph.Inputs(member)) {
        if (graph.tensor(input).kind == TensorKind::kCompute &&
            computed.count(input) == 0)
          return absl::InvalidArgumentError(
              absl::StrCat(graph.tensor(member).name, " reads ",
                           graph.tensor(input).name, ", of a later stage"));
      }
    }
  }
  for (const TensorId output : graph.outputs()) {
    if (!results.count(output))
      return absl::InvalidArgumentError(
          absl::StrCat(graph.tensor(output).name,
                       " leaves the group and is no stage's result"));
  }
  if (workload.stages.empty() ||
      std::find(graph.outputs().begin(), graph.outputs().end(),
                workload.stages.back().back()) == graph.outputs().end())
    return absl::InvalidArgumentError(
        "a fused schedule ends with an output of its group");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StagePlan> WishedPlan(const Workload& workload,
                                     const FusedWishes& wishes) {
  TW_RETURN_IF_ERROR(CheckStages(workload));
  const TensorGraph& graph = workload.graph;
  if (!wishes.stages.empty() && wishes.stages.size() != workload.stages.size())
    return absl::InvalidArgumentError(
        absl::StrCat("wishes for ", wishes.stages.size(),
                     " stages of a group of ", workload.stages.size()));
  const Tensor& output = graph.tensor(workload.stages.back().back());
  const std::vector<int64_t> shape = output.static_shape();
  if (shape.empty() ||
      (!wishes.tile.empty() && wishes.tile.size() != shape.size()))
    return absl::InvalidArgumentError(
        absl::StrCat("a tile of ", output.name, " has ", shape.size(),
                     " extents, at least one, not ", wishes.tile.size()));
  StagePlan plan;
  for (size_t s = 0; s < workload.stages.size(); ++s) {
    const std::vector<TensorId>& members = workload.stages[s];
    StagePlan::Stage& stage = plan.stages.emplace_back();
    stage.members = members;
    if (wishes.stages.empty()) {
      stage.layout =
          Layout::RowMajor(graph.tensor(members.back()).static_shape());
      continue;
    }
    stage.layout = wishes.stages[s].layout;
    stage.reduce_step = wishes.stages[s].reduce_step;
  }
  plan.zeros = FindKnownZeros(graph, workload.zeros);
  plan.tile = shape;
  for (size_t i = 0; i < wishes.tile.size(); ++i)
    plan.tile[i] = std::clamp<int64_t>(wishes.tile[i], 1, shape[i]);
  return plan;
}

}  // namespace tilewright::sketch
