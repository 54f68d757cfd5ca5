// Groups that the planner fuses, as predicted and as they run: the kernels
// unfused beside the fused one, on the same buffers and in turn.
//
//   fusions [--threads=N] [--seconds=S] [--refused] [--kernels] MODEL_DIR...
//
// Refused: also those that were evaluated and left unfused. Kernels: instead,
// the distinct kernels of the plan without fusions, and how far predicted and
// measured times agree in rank.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "bench/measuring/kendall_tau.h"
#include "bench/traffic/group_kernel.h"
#include "bench/traffic/kernel_chain.h"
#include "compiler/compile.h"
#include "compiler/kernels/group_workload.h"
#include "compiler/kernels/kernel_maker.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/fuse/fused_groups.h"

namespace tilewright {
namespace {

struct Options {
  std::vector<std::string> dirs;
  int threads = 1;
  double seconds = 0.3;  // of every group
  bool refused = false, kernels = false;
};

// One distinct fusion of a model.
struct Row {
  std::string name;
  bool taken = false;
  int count = 1;  // of this shape in the model
  int groups = 0, reductions = 0;
  std::vector<int64_t> tile;
  double recompute = 1;
  double predicted_unfused = 0, predicted_fused = 0;  // seconds
  double saved_bytes = 0;  // that leave the private caches
  int64_t scratch_bytes = 0;
  bench::ChainTimes unfused, fused;
};

// Sums, maxima of rows and the like.
int Reductions(const TensorGraph& graph, const Group& group) {
  return static_cast<int>(std::count_if(
      group.members.begin(), group.members.end(), [&](TensorId id) {
        return graph.tensor(id).compute.combiner.has_value();
      }));
}

class ModelFusions {
 public:
  ModelFusions(const CompiledModel& model, const backends::Codegen& codegen,
               backends::Device& device, const Options& options)
      : model_(model),
        plan_(model.register_plan),
        codegen_(codegen),
        device_(device),
        options_(options),
        maker_(codegen),
        evaluator_(model.graph, plan_, codegen.spec()) {}

  // Best first as the planner sees them.
  absl::StatusOr<std::vector<Row>> Run() {
    std::map<std::pair<bool, KernelMaker::Key>, size_t> row_of;
    std::vector<Row> rows;
    const FusionRules rules(model_.graph, plan_);
    const auto add = [&](const Fusion& fusion, bool taken) -> absl::Status {
      const Plan fused = rules.WithFusions({fusion});
      const Group& group =
          *std::find_if(fused.groups.begin(), fused.groups.end(),
                        [](const Group& one) { return !one.stages.empty(); });
      const auto [known, added] = row_of.insert(
          {{taken,
            KernelMaker::KeyOf(MakeGroupWorkload(model_.graph, fused, group))},
           rows.size()});
      if (!added) {
        ++rows[known->second].count;
        return absl::OkStatus();
      }
      TW_ASSIGN_OR_RETURN(Row row, Compare(fusion, fused, group));
      row.taken = taken;
      rows.push_back(std::move(row));
      return absl::OkStatus();
    };
    for (const Fusion& fusion : model_.connected.fusions)
      TW_RETURN_IF_ERROR(add(fusion, true));
    if (!options_.refused) return rows;
    for (const FusionDecision& decision : model_.connected.decisions) {
      if (decision.taken) continue;
      const absl::StatusOr<Group> group = rules.Fused(decision.groups);
      if (!group.ok()) continue;
      const absl::StatusOr<GroupCost> best = evaluator_.Best(*group);
      if (!best.ok() || !best->fits) continue;
      const absl::Status added = add({decision.groups, best->plan, ""}, false);
      if (!added.ok())
        std::printf("  %s: %s\n",
                    model_.graph.tensor(group->output).name.c_str(),
                    added.ToString().c_str());
    }
    return rows;
  }

  // Predicts and measures each distinct kernel without fusions.
  absl::Status RunKernels() {
    std::vector<double> predicted, measured;
    std::set<KernelMaker::Key> seen;
    for (const Group& group : plan_.groups) {
      const GroupWorkload workload =
          MakeGroupWorkload(model_.graph, plan_, group);
      if (!seen.insert(KernelMaker::KeyOf(workload)).second) continue;
      const absl::StatusOr<GroupCost> cost = evaluator_.Best(group);
      if (!cost.ok()) continue;
      TW_ASSIGN_OR_RETURN(const ChainKernel kernel,
                          KernelOf(plan_, group, "unfused"));
      bench::NamedBuffers buffers(device_);
      std::vector<bench::KernelChain> chains(1);
      TW_ASSIGN_OR_RETURN(chains[0], bench::KernelChain::Create(
                                         {kernel}, codegen_, device_, buffers));
      TW_ASSIGN_OR_RETURN(
          const auto times,
          bench::TimeInterleaved(chains, device_, options_.seconds));
      predicted.push_back(Seconds(*cost));
      measured.push_back(times[0].least_seconds);
      std::printf("| %s | %s | %.1f |",
                  model_.graph.tensor(group.output).name.c_str(),
                  absl::StrJoin(cost->plan.tile, "x").c_str(),
                  cost->work_seconds * 1e6);
      for (const LevelBytes& level : cost->levels)
        std::printf(" %.0f + %.0f |", level.read / 1024, level.written / 1024);
      std::printf(" %.1f | %.1f | %.2f |\n", predicted.back() * 1e6,
                  measured.back() * 1e6, predicted.back() / measured.back());
    }
    std::printf("%zu kernels, Kendall's tau of predicted and measured %.2f\n",
                predicted.size(), bench::KendallTau(predicted, measured));
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<Row> Compare(const Fusion& fusion, const Plan& fused,
                              const Group& group) {
    Row row;
    row.groups = static_cast<int>(fusion.groups.size());
    row.reductions = Reductions(model_.graph, group);
    row.tile = fusion.tile_plan.tile;
    row.name = absl::StrCat(
        model_.graph.tensor(plan_.groups[fusion.groups.front()].output).name,
        "..", model_.graph.tensor(group.output).name);
    TW_ASSIGN_OR_RETURN(const GroupCost cost, evaluator_.CostOf(group));
    row.recompute = cost.recompute;
    row.predicted_fused = Seconds(cost);
    row.saved_bytes = -FarBytes(cost);
    std::vector<ChainKernel> unfused;
    for (const int g : fusion.groups) {
      const Group& part = plan_.groups[g];
      TW_ASSIGN_OR_RETURN(const GroupCost own, evaluator_.Best(part));
      row.predicted_unfused += Seconds(own);
      row.saved_bytes += FarBytes(own);
      TW_ASSIGN_OR_RETURN(unfused.emplace_back(),
                          KernelOf(plan_, part, absl::StrCat("unfused", g)));
    }
    TW_ASSIGN_OR_RETURN(const ChainKernel together,
                        KernelOf(fused, group, "fused"));
    bench::NamedBuffers buffers(device_);
    std::vector<bench::KernelChain> chains;
    for (const std::vector<ChainKernel>& kernels : {unfused, {together}}) {
      TW_ASSIGN_OR_RETURN(
          bench::KernelChain chain,
          bench::KernelChain::Create(kernels, codegen_, device_, buffers));
      chains.push_back(std::move(chain));
    }
    row.scratch_bytes = chains[1].scratch_bytes();
    TW_ASSIGN_OR_RETURN(
        const auto times,
        bench::TimeInterleaved(chains, device_, options_.seconds));
    row.unfused = times[0];
    row.fused = times[1];
    return row;
  }

  using ChainKernel = bench::ChainKernel;

  double Seconds(const GroupCost& cost) const {
    return options_.threads == 1 ? cost.one_core_seconds : cost.seconds;
  }

  absl::StatusOr<ChainKernel> KernelOf(const Plan& plan, const Group& group,
                                       const std::string& name) {
    return bench::KernelOfGroup(model_.graph, plan, group, maker_, name);
  }

  const CompiledModel& model_;
  const Plan& plan_;
  const backends::Codegen& codegen_;
  backends::Device& device_;
  const Options& options_;
  KernelMaker maker_;
  const GroupEvaluator evaluator_;
};

constexpr char kKernelsHead[] =
    "| group | tile | arithmetic us | KiB read + written across level 0 | 1 | "
    "2 | predicted us | measured us | ratio |\n"
    "|---|---|---|---|---|---|---|---|---|\n";
constexpr char kJoinsHead[] =
    "| group | times | kernels | reductions | tile | recompute | scratch KiB | "
    "KiB saved | predicted ms | measured ms | predicted | least | median | "
    "realised |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";

void Print(const Row& row) {
  const double predicted = row.predicted_unfused - row.predicted_fused;
  const double least = row.unfused.least_seconds - row.fused.least_seconds;
  std::printf(
      "| %s%s | %d | %d | %d | %s | %.2f | %.0f | %.0f | %.3f -> %.3f | %.3f "
      "-> %.3f | %.2f | %.2f | %.2f | %.2f |\n",
      row.name.c_str(), row.taken ? "" : " (unfused)", row.count, row.groups,
      row.reductions, absl::StrJoin(row.tile, "x").c_str(), row.recompute,
      static_cast<double>(row.scratch_bytes) / 1024, row.saved_bytes / 1024,
      row.predicted_unfused * 1e3, row.predicted_fused * 1e3,
      row.unfused.least_seconds * 1e3, row.fused.least_seconds * 1e3,
      row.predicted_unfused / row.predicted_fused,
      row.unfused.least_seconds / row.fused.least_seconds,
      row.unfused.median_seconds / row.fused.median_seconds, least / predicted);
}

absl::Status Run(const Options& options) {
  TW_ASSIGN_OR_RETURN(const auto device,
                      cpu::CreateCpuDevice({.num_threads = options.threads}));
  TW_ASSIGN_OR_RETURN(const auto codegen,
                      cpu::CreateCpuCodegen(device->spec()));
  CompileOptions compile;
  compile.plan.connect = PlanOptions::Connect::kTileGraph;
  for (const std::string& dir : options.dirs) {
    TW_ASSIGN_OR_RETURN(const ImportedModel imported,
                        ImportModel(dir + "/model.onnx"));
    TW_ASSIGN_OR_RETURN(const CompiledModel model,
                        Compile(imported, *codegen, compile));
    std::printf("\n%s\n\n%s", dir.c_str(),
                options.kernels ? kKernelsHead : kJoinsHead);
    if (options.kernels) {
      TW_RETURN_IF_ERROR(
          ModelFusions(model, *codegen, *device, options).RunKernels());
      continue;
    }
    TW_ASSIGN_OR_RETURN(const std::vector<Row> rows,
                        ModelFusions(model, *codegen, *device, options).Run());
    double predicted = 0, least = 0, median = 0, saved_bytes = 0;
    int distinct = 0, several = 0;
    for (const Row& row : rows) {
      Print(row);
      if (!row.taken) continue;
      const double count = row.count;
      predicted += count * (row.predicted_unfused - row.predicted_fused);
      least += count * (row.unfused.least_seconds - row.fused.least_seconds);
      median += count * (row.unfused.median_seconds - row.fused.median_seconds);
      saved_bytes += count * row.saved_bytes;
      ++distinct;
      several += row.reductions > 1;
    }
    std::printf(
        "\n%s: %d distinct fused groups, %d with two or more reductions; "
        "saves "
        "%.3f ms predicted, %.3f least, %.3f median; %.1f MiB\n",
        dir.c_str(), distinct, several, predicted * 1e3, least * 1e3,
        median * 1e3, saved_bytes / (1 << 20));
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

constexpr char kUsage[] =
    "fusions [--threads=N] [--seconds=S] [--refused] [--kernels] MODEL_DIR...";

int Main(const std::vector<std::string>& arguments) {
  Options options;
  OptionParser parser;
  parser.Flag("refused", &options.refused);
  parser.Flag("kernels", &options.kernels);
  parser.Number("seconds", &options.seconds, 0.0);
  parser.Number("threads", &options.threads, 1);
  return RunOnArguments("fusions", kUsage, parser, arguments,
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
