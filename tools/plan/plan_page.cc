#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/page/fill_page.h"
#include "tools/page/json.h"
#include "tools/plan/page_template.h"
#include "tools/plan/picture_text.h"
#include "tools/plan/plan_picture.h"

namespace tilewright::tools {
namespace {

constexpr absl::string_view kPlace = "@PICTURE@";

void AppendFact(absl::string_view name, const std::string& value,
                const std::string& more, Json& json) {
  json.Open('{').Key("name").Text(name).Key("value").Text(value);
  json.Key("more").Text(more).Close('}');
}

// Sums over the groups, as tiles of the page.
void AppendSums(const CompiledModel& compiled, const PlanReport& report,
                const Picture& picture, Json& json) {
  GroupCost sum;
  int estimated = 0;
  for (const GroupReport& group : report.groups) {
    estimated += !group.cost.plan.tile.empty();
    AddCost(group.cost, sum);
  }
  double unfused_seconds = 0;
  for (const GroupCost& cost : compiled.connected.costs)
    unfused_seconds += cost.one_core_seconds;
  const auto level = [&](Limit limit) -> const std::string& {
    return picture.levels[static_cast<int>(limit)];
  };
  const int groups = static_cast<int>(report.groups.size());
  json.Open('[');
  AppendFact("Groups", absl::StrCat(groups),
             absl::StrCat(compiled.kernels.size(), " different kernels"), json);
  AppendFact("Fused of several", absl::StrCat(report.fused),
             report.fused > 0
                 ? absl::StrCat(report.distinct_fused, " different, ",
                                report.distinct_several,
                                " with two or more reductions")
                 : "",
             json);
  AppendFact("Predicted, one core", SecondsText(sum.one_core_seconds),
             report.fused > 0
                 ? absl::StrCat(SecondsText(unfused_seconds), " with all apart")
             : estimated < groups
                 ? absl::StrCat(groups - estimated, " groups have no estimate")
                 : "",
             json);
  AppendFact("Predicted, all cores", SecondsText(sum.seconds), "", json);
  AppendFact("Arithmetic", FlopsText(sum.flops), "", json);
  AppendFact(absl::StrCat("Across ", level(Limit::kMemory)),
             BytesText(sum.memory_bytes),
             absl::StrCat("and ", BytesText(sum.shared_bytes), " from ",
                          level(Limit::kShared)),
             json);
  AppendFact("Between groups", BytesText(report.intermediate_bytes),
             "intermediate results", json);
  AppendFact(
      "Arena", BytesText(static_cast<double>(compiled.program.arena_bytes())),
      absl::StrCat(BytesText(static_cast<double>(compiled.constants.size())),
                   " of constants"),
      json);
  json.Close(']');
}

std::string CostLine(const GroupCost& cost, const Picture& picture) {
  const auto level = [&](Limit limit) -> const std::string& {
    return picture.levels[static_cast<int>(limit)];
  };
  return absl::StrCat(
      SecondsText(cost.one_core_seconds), " on one core, ",
      SecondsText(cost.seconds), " on all; ", FlopsText(cost.flops), "; ",
      BytesText(cost.memory_bytes), " across ", level(Limit::kMemory), ", ",
      BytesText(cost.shared_bytes), " from ", level(Limit::kShared), ", ",
      BytesText(cost.private_bytes), " within ", level(Limit::kPrivate));
}

void AppendBox(const CompiledModel& compiled, const PlanReport& report,
               const Picture& picture, const PictureBox& box, Json& json) {
  const Plan& plan = compiled.plan;
  const GroupReport& first = report.groups[box.groups[0]];
  const Group& group = plan.groups[box.groups[0]];
  const auto name = [&](TensorId id) -> const std::string& {
    return compiled.graph.tensor(id).name;
  };
  json.Open('{').Key("title").Text(box.title).Key("shape").Text(box.shape);
  json.Key("kernel").Int(compiled.kernel_of_group[box.groups[0]]);
  json.Key("bound").Text(picture.levels[static_cast<int>(box.limit)]);
  json.Key("computes")
      .Text(absl::StrJoin(group.members, ", ",
                          [&](std::string* text, TensorId member) {
                            text->append(name(member));
                          }));
  json.Key("facts").Open('[');
  if (!first.cost.plan.tile.empty()) {
    json.Text(absl::StrCat("Predicted: ", CostLine(first.cost, picture)));
    json.Text(absl::StrCat(
        "Tiles ", TileText(first.cost.plan.tile), ", ", first.cost.tasks,
        " tasks, ", absl::StrFormat("%.2f", first.cost.recompute),
        " times the arithmetic, ",
        BytesText(static_cast<double>(first.cost.scratch_bytes)),
        " between stages"));
  }
  if (!group.stages.empty())
    json.Text(absl::StrCat("Apart: ", CostLine(first.apart, picture)));
  json.Close(']').Key("stages").Open('[');
  for (const PictureStage& stage : box.stages) {
    json.Text(absl::StrCat(stage.operators, ", tile ", TileText(stage.tile),
                           ", ", BytesText(static_cast<double>(stage.bytes))));
  }
  json.Close(']').Key("evaluated").Open('[');
  for (const FusionDecision* decision : first.evaluated) {
    json.Text(absl::StrCat(
        absl::StrJoin(decision->groups, " + ",
                      [&](std::string* text, int g) {
                        text->append(
                            name(compiled.register_plan.groups[g].output));
                      }),
        ": ", decision->why));
  }
  // All that the box stands for.
  json.Close(']').Key("groups").Open('[');
  for (const int g : box.groups) {
    json.Open('{').Key("group").Int(g);
    json.Key("output").Text(name(plan.groups[g].output));
    json.Key("why").Text(absl::StrJoin(plan.groups[g].why, "; ")).Close('}');
  }
  json.Close(']').Close('}');
}

}  // namespace

std::string PlanPage(const CompiledModel& compiled, const PlanReport& report,
                     const Picture& picture, absl::string_view title) {
  Json json;
  json.Open('{').Key("title").Text(title);
  json.Key("target").Text(compiled.program.target());
  json.Key("producer").Text(compiled.program.producer());
  AppendSums(compiled, report, picture, json.Key("sums"));
  json.Key("levels").Open('[');
  for (const std::string& level : picture.levels) json.Text(level);
  json.Close(']').Key("boxes").Open('{');
  for (size_t b = 0; b < picture.boxes.size(); ++b) {
    if (picture.boxes[b].kind == PictureBox::Kind::kGroup)
      AppendBox(compiled, report, picture, picture.boxes[b],
                json.Key(absl::StrCat("b", b)));
  }
  json.Close('}').Close('}');
  const absl::string_view page = kPage;
  const size_t place = page.find(kPlace);
  return absl::StrCat(
      page.substr(0, place), PictureSvg(picture, false),
      FillPage(page.substr(place + kPlace.size()), json.text()));
}

}  // namespace tilewright::tools
