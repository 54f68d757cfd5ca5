// The savings of fusing, as predicted and as realised: the fused groups of a
// model are taken apart one distinct kernel at a time, everything else staying
// as it is, and the whole model runs both ways in turn on one core.
//
//   savings [--seconds=S] MODEL_DIR...
//
// Times are sums of least times, of the launches that compute what the fused
// kernel does: all others are the same both ways. A second copy of the fused
// model runs beside them: how far that differs is the noise.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/host_spec.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/cost/timed_model.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/cost/group_cost.h"

namespace tilewright {
namespace {

using Members = std::set<TensorId>;

constexpr int kLeastRuns = 7;

// Every fused group of a plan, by its members.
std::set<Members> FusedGroups(const Plan& plan) {
  std::set<Members> fused;
  for (const Group& group : plan.groups) {
    if (!group.stages.empty())
      fused.insert({group.members.begin(), group.members.end()});
  }
  return fused;
}

CompileOptions TileGraphOptions() {
  CompileOptions options;
  options.plan.connect = PlanOptions::Connect::kTileGraph;
  return options;
}

// The groups that share one kernel.
struct FusedKernel {
  std::string name;  // the first one's output
  int launches = 0;
  Members members;  // of all
  double predicted_us = 0;
};

// The savings of fusing that the cost model predicts, by kernel.
absl::StatusOr<std::vector<FusedKernel>> Predict(const CompiledModel& compiled,
                                                 const DeviceSpec& spec) {
  const Plan& unfused = compiled.register_plan;
  const GroupEvaluator model(compiled.graph, unfused, spec);
  const FusionRules rules(compiled.graph, unfused);
  std::map<TensorId, int> kernel_of_output;
  for (size_t g = 0; g < compiled.plan.groups.size(); ++g)
    kernel_of_output[compiled.plan.groups[g].output] =
        compiled.kernel_of_group[g];
  std::map<int, FusedKernel> kernels;
  for (const Fusion& fusion : compiled.connected.fusions) {
    TW_ASSIGN_OR_RETURN(Group fused, rules.Fused(fusion.groups));
    fused.tile_plan = fusion.tile_plan;
    TW_ASSIGN_OR_RETURN(const GroupCost cost, model.CostOf(fused));
    double saved_seconds = -cost.one_core_seconds;
    for (const int g : fusion.groups) {
      TW_ASSIGN_OR_RETURN(const GroupCost own, model.Best(unfused.groups[g]));
      saved_seconds += own.one_core_seconds;
    }
    FusedKernel& kernel = kernels[kernel_of_output.at(fused.output)];
    if (kernel.launches++ == 0)
      kernel.name = compiled.graph.tensor(fused.output).name;
    kernel.members.insert(fused.members.begin(), fused.members.end());
    kernel.predicted_us += saved_seconds * 1e6;
  }
  std::vector<FusedKernel> result;
  for (auto& [unused, kernel] : kernels) result.push_back(std::move(kernel));
  return result;
}

// The model with no kernel that fuses any of these.
absl::StatusOr<CompiledModel> CompileApart(const ImportedModel& imported,
                                           const backends::Codegen& codegen,
                                           const Members& members) {
  CompileOptions options = TileGraphOptions();
  options.connect.evaluate.generate =
      [&](const Group& group, const Plan&) -> absl::StatusOr<TilePlan> {
    if (std::any_of(group.members.begin(), group.members.end(),
                    [&](TensorId id) { return members.count(id) > 0; }))
      return absl::FailedPreconditionError("it is taken apart");
    return group.tile_plan;
  };
  return Compile(imported, codegen, options);
}

// Microseconds of the launches of groups that compute any of these.
double TimeOf(const Members& members, const CompiledModel& compiled,
              const bench::TimedModel& timed) {
  const std::vector<double> group_us = timed.GroupTimes(compiled);
  double sum_us = 0;
  for (size_t g = 0; g < group_us.size(); ++g) {
    const std::vector<TensorId>& own = compiled.plan.groups[g].members;
    if (compiled.kernel_of_group[g] >= 0 &&
        std::any_of(own.begin(), own.end(),
                    [&](TensorId id) { return members.count(id) > 0; }))
      sum_us += group_us[g];
  }
  return sum_us;
}

struct Sums {
  double predicted_us = 0, realised_us = 0, noise_us = 0;
  int kernels = 0;

  void Add(const Sums& other) {
    predicted_us += other.predicted_us;
    realised_us += other.realised_us;
    noise_us += other.noise_us;
    kernels += other.kernels;
  }
  void Print(const std::string& name) const {
    if (kernels > 0)
      std::printf(
          "\n%s: %d fused kernels, %.1f us predicted, %.1f realised: "
          "%.2f; noise %.1f us\n",
          name.c_str(), kernels, predicted_us, realised_us,
          realised_us / predicted_us, noise_us);
    std::fflush(stdout);
  }
};

absl::StatusOr<Sums> OneModel(const std::string& dir,
                              const backends::Codegen& codegen,
                              double seconds) {
  const std::string name = dir.substr(dir.rfind('/') + 1);
  TW_ASSIGN_OR_RETURN(const ImportedModel imported,
                      ImportModel(dir + "/model.onnx"));
  TW_ASSIGN_OR_RETURN(const CompiledModel fused,
                      Compile(imported, codegen, TileGraphOptions()));
  TW_ASSIGN_OR_RETURN(const std::vector<FusedKernel> kernels,
                      Predict(fused, codegen.spec()));
  Sums sums;
  for (const FusedKernel& kernel : kernels) {
    TW_ASSIGN_OR_RETURN(const CompiledModel unfused,
                        CompileApart(imported, codegen, kernel.members));
    // Apart from that, the plan has to be the same.
    std::set<Members> before = FusedGroups(fused.plan);
    const std::set<Members> after = FusedGroups(unfused.plan);
    const bool same = std::all_of(
        after.begin(), after.end(),
        [&](const Members& group) { return before.count(group) > 0; });
    std::vector<bench::TimedModel> models;
    for (const CompiledModel* model : {&fused, &unfused, &fused}) {
      TW_ASSIGN_OR_RETURN(bench::TimedModel timed,
                          bench::TimedModel::Create(*model));
      models.push_back(std::move(timed));
    }
    TW_RETURN_IF_ERROR(
        bench::RunInterleaved(absl::MakeSpan(models), seconds, kLeastRuns));
    const double fused_us = TimeOf(kernel.members, fused, models[0]),
                 again_us = TimeOf(kernel.members, fused, models[2]);
    const Sums own{
        kernel.predicted_us,
        TimeOf(kernel.members, unfused, models[1]) - (fused_us + again_us) / 2,
        std::abs(again_us - fused_us), 1};
    std::printf("| %s | %s | %d | %.1f | %.1f | %.1f | %.2f | %.1f |%s\n",
                name.c_str(), kernel.name.c_str(), kernel.launches, fused_us,
                own.predicted_us, own.realised_us,
                own.realised_us / own.predicted_us, own.noise_us,
                same ? "" : " others are fused differently then");
    std::fflush(stdout);
    if (same) sums.Add(own);
  }
  return sums;
}

constexpr char kUsage[] = "savings [--seconds=S] MODEL_DIR...";

absl::Status Run(const std::vector<std::string>& dirs, double seconds) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, HostSpecWithCores(1));
  TW_ASSIGN_OR_RETURN(const auto codegen, cpu::CreateCpuCodegen(spec));
  std::printf(
      "| model | fused kernel | launches | fused us | predicted us | realised "
      "us | realised / predicted | noise us "
      "|\n|---|---|---|---|---|---|---|---|"
      "\n");
  Sums sums;
  for (const std::string& dir : dirs) {
    TW_ASSIGN_OR_RETURN(const Sums own, OneModel(dir, *codegen, seconds));
    sums.Add(own);
  }
  sums.Print("all");
  return absl::OkStatus();
}

int Main(const std::vector<std::string>& arguments) {
  OptionParser parser;
  double seconds = 2;
  parser.Number("seconds", &seconds, 0.0);
  return RunOnArguments(
      "savings", kUsage, parser, arguments,
      [&](const std::vector<std::string>& dirs) { return Run(dirs, seconds); });
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  return tilewright::Main({argv + 1, argv + argc});
}
