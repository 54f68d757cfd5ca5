// Runs models kernel by kernel on one core and prints what each distinct kernel
// took there, beside the counts that the cost model makes its estimate of.
//
//   collect [--spec=FILE] [--seconds=S] MODEL_DIR... > samples.txt
//
// Times are the least of all runs: tensors lie where the kernels before have
// left them. Kernels of the plan without fused stages, then those that
// --connect=tilegraph has beside them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/cost/kernel_sample.h"
#include "bench/cost/timed_model.h"
#include "compiler/compile.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/analysis/access.h"
#include "tilegraph/cost/estimate_key.h"
#include "tilegraph/cost/group_cost.h"

namespace tilewright {
namespace {

constexpr int kLeastRuns = 5;

struct Options {
  std::string spec;
  double seconds = 1;  // of every model and plan
  std::vector<std::string> dirs;
};

// The least time of each group, in microseconds.
absl::StatusOr<std::vector<double>> GroupTimes(const CompiledModel& compiled,
                                               double seconds) {
  TW_ASSIGN_OR_RETURN(bench::TimedModel model,
                      bench::TimedModel::Create(compiled));
  TW_RETURN_IF_ERROR(
      bench::RunInterleaved(absl::MakeSpan(&model, 1), seconds, kLeastRuns));
  return model.GroupTimes(compiled);
}

std::string FamilyOf(const CompiledModel& compiled, const Group& group,
                     const CompiledKernel& kernel) {
  if (!group.stages.empty()) return "fused";
  const auto winograd = kernel.arg_winograd;
  if (std::any_of(winograd.begin(), winograd.end(),
                  [](int m) { return m > 0; }))
    return "winograd";
  bool moves = true, resizes = false, pools = false;
  for (const TensorId id : group.members) {
    const Tensor& tensor = compiled.graph.tensor(id);
    moves &= AsMove(compiled.graph, id).has_value() ||
             tensor.hint.word() == "gather";
    resizes |= tensor.hint.word() == "resize";
    pools |= tensor.hint == "pool";
  }
  if (resizes) return "resize";
  if (pools) return "pooling";
  if (moves) return "move";
  return absl::StrReplaceAll(kernel.generator, {{" ", "_"}});
}

// Adds each distinct kernel of the model; of those with fused stages alone if
// `only_fused`.
absl::Status Collect(const std::string& dir, const ImportedModel& imported,
                     const backends::Codegen& codegen,
                     PlanOptions::Connect connect, bool only_fused,
                     double seconds,
                     std::vector<bench::KernelSample>& samples) {
  CompileOptions options;
  options.plan.connect = connect;
  TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                      Compile(imported, codegen, options));
  TW_ASSIGN_OR_RETURN(const std::vector<double> group_us,
                      GroupTimes(compiled, seconds));
  const GroupEvaluator evaluator(compiled.graph, compiled.plan, codegen.spec());
  const std::string model = dir.substr(dir.rfind('/') + 1);
  std::map<std::pair<int, EstimateKey>, size_t> sample_of;
  for (size_t i = 0; i < compiled.plan.groups.size(); ++i) {
    const Group& group = compiled.plan.groups[i];
    const int kernel = compiled.kernel_of_group[i];
    if (kernel < 0 || (only_fused && group.stages.empty())) continue;
    if (group_us[i] > 1e9) continue;
    const auto [known, added] =
        sample_of.insert({{kernel, evaluator.KeyOf(group)}, samples.size()});
    if (!added) {
      bench::KernelSample& same = samples[known->second];
      same.us = (same.us * same.launches + group_us[i]) / (same.launches + 1);
      ++same.launches;
      continue;
    }
    Group in_tiles = group;
    if (group.stages.empty()) {
      const absl::StatusOr<GroupCost> best = evaluator.Best(group);
      if (!best.ok()) continue;
      in_tiles.tile_plan = best->plan;
    }
    TW_ASSIGN_OR_RETURN(KernelFeatures features, evaluator.Features(in_tiles));
    samples.push_back(
        {model,
         absl::StrReplaceAll(compiled.graph.tensor(group.output).name,
                             {{" ", "_"}}),
         FamilyOf(compiled, group, compiled.kernels[kernel]), 1, group_us[i],
         std::move(features)});
  }
  return absl::OkStatus();
}

absl::Status Run(const Options& options) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, options.spec.empty()
                                                 ? HostSpecWithCores(1)
                                                 : LoadSpec(options.spec));
  TW_ASSIGN_OR_RETURN(const auto codegen, cpu::CreateCpuCodegen(spec));
  std::vector<bench::KernelSample> samples;
  for (const std::string& dir : options.dirs) {
    TW_ASSIGN_OR_RETURN(const ImportedModel imported,
                        ImportModel(dir + "/model.onnx"));
    using Connect = PlanOptions::Connect;
    TW_RETURN_IF_ERROR(Collect(dir, imported, *codegen, Connect::kRegister,
                               false, options.seconds, samples));
    TW_RETURN_IF_ERROR(Collect(dir, imported, *codegen, Connect::kTileGraph,
                               true, options.seconds, samples));
    std::fprintf(stderr, "%s: %zu kernels so far\n", dir.c_str(),
                 samples.size());
  }
  std::printf("%s", bench::ToText(samples).c_str());
  return absl::OkStatus();
}

constexpr char kUsage[] = "collect [--spec=FILE] [--seconds=S] MODEL_DIR...";

int Main(const std::vector<std::string>& arguments) {
  Options options;
  OptionParser parser;
  parser.Text("spec", &options.spec);
  parser.Number("seconds", &options.seconds, 0.0);
  return RunOnArguments("collect", kUsage, parser, arguments,
                        [&](const std::vector<std::string>& dirs) {
                          options.dirs = dirs;
                          return Run(options);
                        });
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  return tilewright::Main({argv + 1, argv + argc});
}
