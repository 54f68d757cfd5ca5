#include "tools/plan/plan_report.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/string_view.h"

namespace tilewright::tools {
namespace {

bool Contains(const std::vector<TensorId>& ids, TensorId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::string CostText(const GroupCost& cost) {
  return absl::StrFormat(
      "%.1f us on one core, %.1f on all; %.3f GFLOP, KiB by level: %.0f "
      "memory, %.0f shared, %.0f private",
      cost.one_core_seconds * 1e6, cost.seconds * 1e6, cost.flops * 1e-9,
      cost.memory_bytes / 1024, cost.shared_bytes / 1024,
      cost.private_bytes / 1024);
}

std::string TaskText(const GroupCost& cost) {
  return absl::StrFormat(
      "%s, %.0f tasks, %.2f times the arithmetic, %d KiB between stages",
      cost.plan.ToString(), cost.tasks, cost.recompute,
      cost.scratch_bytes / 1024);
}

// "t3 (contraction): rolls along d2", of each stage.
std::vector<std::string> StageTexts(const TensorGraph& graph,
                                    const Group& group) {
  std::vector<std::string> texts;
  for (size_t s = 0; s < group.tile_plan.stages.size(); ++s) {
    const StageDecision& stage = group.tile_plan.stages[s];
    const std::string decided = ToString(stage);
    texts.push_back(absl::StrCat(
        graph.tensor(group.stages[s].members.back()).name, " (",
        ToAbsl(Name(stage.family)), ")", decided.empty() ? "" : ": ", decided));
  }
  return texts;
}

std::string Names(const CompiledModel& compiled, const std::vector<int>& groups,
                  absl::string_view separator) {
  return absl::StrJoin(groups, separator, [&](std::string* text, int g) {
    text->append(
        compiled.graph.tensor(compiled.register_plan.groups[g].output).name);
  });
}

int Reductions(const TensorGraph& graph, const Group& group) {
  return static_cast<int>(std::count_if(
      group.members.begin(), group.members.end(), [&](TensorId member) {
        return graph.tensor(member).compute.combiner.has_value();
      }));
}

void AppendCost(const GroupCost& cost, Json& json) {
  json.Open('{').Key("tile").Open('[');
  for (const int64_t size : cost.plan.tile) json.Int(size);
  json.Close(']').Key("reduce_step").Int(cost.plan.reduce_step());
  json.Key("tasks").Number(cost.tasks);
  json.Key("flops").Number(cost.flops).Key("recompute").Number(cost.recompute);
  json.Key("memory_bytes").Number(cost.memory_bytes);
  json.Key("shared_bytes").Number(cost.shared_bytes);
  json.Key("private_bytes").Number(cost.private_bytes);
  json.Key("scratch_bytes").Int(cost.scratch_bytes);
  json.Key("fits").Bool(cost.fits);
  json.Key("one_core_s").Number(cost.one_core_seconds);
  json.Key("all_cores_s").Number(cost.seconds).Close('}');
}

std::string ProfiledText(const ProfiledTile& tile) {
  return absl::StrCat(
      tile.plan.ToString(), ": ",
      tile.one_core_seconds.ok()
          ? absl::StrFormat("%.1f us on one core", *tile.one_core_seconds * 1e6)
          : std::string(tile.one_core_seconds.status().message()));
}

void AppendProfiled(const FusionDecision& decision, Json& json) {
  if (decision.fused_one_core_seconds)
    json.Key("together_measured_s").Number(*decision.fused_one_core_seconds);
  if (decision.unfused_one_core_seconds)
    json.Key("apart_measured_s").Number(*decision.unfused_one_core_seconds);
  json.Key("measured").Open('[');
  for (const ProfiledTile& tile : decision.profiled) {
    json.Open('{').Key("tile").Open('[');
    for (const int64_t size : tile.plan.tile) json.Int(size);
    json.Close(']').Key("reduce_step").Int(tile.plan.reduce_step());
    if (tile.one_core_seconds.ok()) {
      json.Key("one_core_s").Number(*tile.one_core_seconds);
    } else {
      json.Key("why").Text(
          std::string(tile.one_core_seconds.status().message()));
    }
    json.Close('}');
  }
  json.Close(']');
}

}  // namespace

void AddCost(const GroupCost& one, GroupCost& sum) {
  sum.flops += one.flops;
  sum.memory_bytes += one.memory_bytes;
  sum.shared_bytes += one.shared_bytes;
  sum.private_bytes += one.private_bytes;
  sum.one_core_seconds += one.one_core_seconds;
  sum.seconds += one.seconds;
  sum.core_seconds += one.core_seconds;
}

PlanReport ReportPlan(const CompiledModel& compiled, const DeviceSpec& spec) {
  PlanReport report;
  const TensorGraph& graph = compiled.graph;
  const GroupEvaluator evaluator(graph, compiled.plan, spec);
  const ConnectedGroups& connected = compiled.connected;
  std::set<int> kernels;
  for (size_t g = 0; g < compiled.plan.groups.size(); ++g) {
    const Group& group = compiled.plan.groups[g];
    GroupReport& one = report.groups.emplace_back();
    if (const auto cost = PlannedCost(compiled, evaluator, group))
      one.cost = *cost;
    for (size_t r = 0; r < connected.costs.size(); ++r) {
      const TensorId output = compiled.register_plan.groups[r].output;
      if (!group.stages.empty() && Contains(group.members, output))
        AddCost(connected.costs[r], one.apart);
    }
    for (const FusionDecision& decision : connected.decisions) {
      if (std::any_of(
              decision.groups.begin(), decision.groups.end(), [&](int r) {
                return Contains(group.members,
                                compiled.register_plan.groups[r].output);
              }))
        one.evaluated.push_back(&decision);
    }
    const absl::Span<const TensorId> outputs = graph.outputs();
    for (const TensorId id : OutputsOf(group)) {
      if (std::find(outputs.begin(), outputs.end(), id) == outputs.end())
        report.intermediate_bytes +=
            static_cast<double>(graph.tensor(id).num_bytes());
    }
    if (group.stages.empty()) continue;
    ++report.fused;
    if (!kernels.insert(compiled.kernel_of_group[g]).second) continue;
    ++report.distinct_fused;
    if (Reductions(graph, group) > 1) ++report.distinct_several;
  }
  return report;
}

std::string PlanText(const CompiledModel& compiled, const PlanReport& report) {
  std::string out = absl::StrFormat(
      "%d groups, %d with stages (%d distinct, %d of them with two or more "
      "reductions); %.1f KiB between groups\n",
      static_cast<int>(report.groups.size()), report.fused,
      report.distinct_fused, report.distinct_several,
      report.intermediate_bytes / 1024);
  if (const GeneratedTiles& tiles = compiled.connected.tiles;
      tiles.generated > 0)
    absl::StrAppend(&out, tiles.generated, " tiles generated, ",
                    tiles.unexpected, " otherwise than expected\n");
  absl::StrAppend(&out, ToString(compiled.plan, compiled.graph));
  for (size_t g = 0; g < report.groups.size(); ++g) {
    const GroupReport& one = report.groups[g];
    if (one.cost.plan.tile.empty()) continue;
    absl::StrAppend(&out, "predicted ", g, ": ", CostText(one.cost), "\n");
    if (compiled.plan.groups[g].stages.empty()) continue;
    absl::StrAppend(&out, "  tiles   ", TaskText(one.cost), "\n  apart   ",
                    CostText(one.apart), "\n");
  }
  return out;
}

std::string WhyText(const CompiledModel& compiled, const PlanReport& report,
                    int only) {
  std::string out;
  for (size_t g = 0; g < compiled.plan.groups.size(); ++g) {
    if (only >= 0 && static_cast<int>(g) != only) continue;
    const Group& group = compiled.plan.groups[g];
    absl::StrAppend(&out, "group ", g, " ends at ",
                    compiled.graph.tensor(group.output).name, "\n");
    for (const std::string& why : group.why)
      absl::StrAppend(&out, "  ", why, "\n");
    if (only < 0) continue;
    const GroupReport& one = report.groups[g];
    if (!one.cost.plan.tile.empty())
      absl::StrAppend(&out, "  predicted ", CostText(one.cost),
                      "\n  tiles     ", TaskText(one.cost), "\n");
    for (const std::string& stage : StageTexts(compiled.graph, group))
      absl::StrAppend(&out, "  stage     ", stage, "\n");
    for (const FusionDecision* decision : one.evaluated) {
      absl::StrAppend(&out, "  evaluated   ",
                      Names(compiled, decision->groups, " + "), ": ",
                      decision->why, "\n");
      for (const ProfiledTile& tile : decision->profiled)
        absl::StrAppend(&out, "    measured ", ProfiledText(tile), "\n");
      if (decision->fused.plan.tile.empty()) continue;
      absl::StrAppend(
          &out, "    together ", CostText(decision->fused), "\n             ",
          TaskText(decision->fused),
          absl::StrFormat("\n    core-seconds %.1f us, apart %.1f\n",
                          decision->fused.core_seconds * 1e6,
                          decision->unfused_core_seconds * 1e6));
    }
  }
  return out;
}

void AppendPlan(const CompiledModel& compiled, const PlanReport& report,
                Json& json) {
  const auto names = [&](const std::vector<TensorId>& ids) {
    json.Open('[');
    for (const TensorId id : ids) json.Text(compiled.graph.tensor(id).name);
    json.Close(']');
  };
  json.Open('{').Key("fused").Int(report.fused);
  json.Key("distinct_fused").Int(report.distinct_fused);
  json.Key("distinct_several_reductions").Int(report.distinct_several);
  json.Key("intermediate_bytes").Number(report.intermediate_bytes);
  json.Key("groups").Open('[');
  for (size_t g = 0; g < report.groups.size(); ++g) {
    const Group& group = compiled.plan.groups[g];
    const GroupReport& one = report.groups[g];
    json.Open('{').Key("kernel").Int(compiled.kernel_of_group[g]);
    names((json.Key("members"), group.members));
    names((json.Key("inputs"), group.inputs));
    json.Key("output").Text(compiled.graph.tensor(group.output).name);
    names((json.Key("side_outputs"), group.side_outputs));
    json.Key("why").Open('[');
    for (const std::string& why : group.why) json.Text(why);
    json.Close(']').Key("stages").Open('[');
    for (const Stage& stage : group.stages) names(stage.members);
    json.Close(']').Key("decided").Open('[');
    for (const std::string& stage : StageTexts(compiled.graph, group))
      json.Text(stage);
    json.Close(']').Key("generated").Bool(group.tile_plan.generated);
    if (!one.cost.plan.tile.empty())
      AppendCost(one.cost, json.Key("predicted"));
    if (!group.stages.empty()) AppendCost(one.apart, json.Key("apart"));
    json.Key("evaluated").Open('[');
    for (const FusionDecision* decision : one.evaluated) {
      json.Open('{').Key("groups").Open('[');
      for (const int r : decision->groups)
        json.Text(compiled.graph.tensor(compiled.register_plan.groups[r].output)
                      .name);
      json.Close(']').Key("taken").Bool(decision->taken);
      json.Key("why").Text(decision->why);
      if (!decision->fused.plan.tile.empty())
        AppendCost(decision->fused, json.Key("together"));
      if (!decision->profiled.empty()) AppendProfiled(*decision, json);
      json.Close('}');
    }
    json.Close(']').Close('}');
  }
  json.Close(']').Close('}');
}

}  // namespace tilewright::tools
