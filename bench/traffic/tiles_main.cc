// Whether the planner chooses good tiles: each distinct fused kernel of a model
// in its tile, in those that the cost model thinks best, and in some of the
// others that the search came by, on the same buffers and in turn.
//
//   tiles [--spec=FILE] [--threads=N] [--best=N] [--drawn=N] [--seconds=S]
//         [--seed=N] [--samples=FILE] MODEL_DIR...
//
// Seconds: of each group, after a first round that leaves out what takes half
// as long again as the chosen tile. FILE gets what the cost model knows of the
// others beside their times, for bench/cost:fit.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/load_spec.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "bench/cost/kernel_sample.h"
#include "bench/measuring/kendall_tau.h"
#include "bench/traffic/group_kernel.h"
#include "bench/traffic/kernel_chain.h"
#include "compiler/compile.h"
#include "compiler/kernels/kernel_maker.h"
#include "frontends/onnx/import_model.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/fuse/fused_groups.h"

namespace tilewright {
namespace {

struct Options {
  std::vector<std::string> dirs;
  std::string spec, samples;
  int threads = 1, best = 30, drawn = 30;
  int64_t seed = 1;
  double seconds = 1;
};

constexpr int kAllTiles = 1 << 20;
constexpr double kHopeless = 1.5;

struct Tile {
  GroupCost cost;
  double least_seconds = 0;
};

std::string Text(const GroupCost& cost) {
  return absl::StrCat(absl::StrJoin(cost.plan.tile, "x"),
                      cost.plan.reduce_step() > 0
                          ? absl::StrCat(" by ", cost.plan.reduce_step())
                          : "");
}

class ModelTiles {
 public:
  ModelTiles(const CompiledModel& model, std::string name,
             const backends::Codegen& codegen, backends::Device& device,
             const Options& options)
      : model_(model),
        name_(std::move(name)),
        plan_(model.register_plan),
        codegen_(codegen),
        device_(device),
        options_(options),
        maker_(codegen),
        costs_(model.graph, plan_, codegen.spec()),
        rules_(model.graph, plan_),
        random_(static_cast<uint64_t>(options.seed)) {}

  absl::Status Run() {
    std::set<int> seen;
    for (const Fusion& fusion : model_.connected.fusions) {
      TW_ASSIGN_OR_RETURN(const Group group, rules_.Fused(fusion.groups));
      const auto planned = std::find_if(
          model_.plan.groups.begin(), model_.plan.groups.end(),
          [&](const Group& one) { return one.output == group.output; });
      const int kernel =
          model_.kernel_of_group[planned - model_.plan.groups.begin()];
      if (!seen.insert(kernel).second) continue;
      TW_RETURN_IF_ERROR(OneGroup(fusion, group));
    }
    return absl::OkStatus();
  }

  const std::vector<bench::KernelSample>& samples() const { return samples_; }
  int groups() const { return groups_; }
  int close() const { return close_; }

 private:
  // The chosen one first; those without a kernel left out.
  absl::StatusOr<std::vector<Tile>> TilesOf(const Fusion& fusion,
                                            const Group& group) {
    TW_ASSIGN_OR_RETURN(std::vector<GroupCost> costs,
                        costs_.BestFew(group, kAllTiles));
    const auto chosen =
        std::find_if(costs.begin(), costs.end(), [&](const GroupCost& cost) {
          return cost.plan.tile == fusion.tile_plan.tile &&
                 cost.plan.reduce_step() == fusion.tile_plan.reduce_step();
        });
    if (chosen == costs.end())
      return absl::NotFoundError("the search does not come by its tile");
    std::rotate(costs.begin(), chosen, chosen + 1);
    const size_t best =
        std::min(costs.size(), static_cast<size_t>(options_.best) + 1);
    random_.Shuffle(absl::MakeSpan(costs).subspan(best));
    costs.resize(
        std::min(costs.size(), best + static_cast<size_t>(options_.drawn)));
    std::vector<Tile> tiles;
    for (GroupCost& cost : costs) tiles.push_back({std::move(cost)});
    return tiles;
  }

  // Times all of them, in turn; those without a kernel are dropped.
  absl::Status Measure(const Fusion& fusion, std::vector<Tile>& tiles,
                       double seconds) {
    bench::NamedBuffers buffers(device_);
    std::vector<bench::KernelChain> chains;
    std::vector<Tile> made;
    for (Tile& tile : tiles) {
      const Plan fused =
          rules_.WithFusions({{fusion.groups, tile.cost.plan, ""}});
      const Group& group =
          *std::find_if(fused.groups.begin(), fused.groups.end(),
                        [](const Group& one) { return !one.stages.empty(); });
      const auto kernel =
          bench::KernelOfGroup(model_.graph, fused, group, maker_, "tile");
      if (!kernel.ok()) continue;
      auto chain =
          bench::KernelChain::Create({*kernel}, codegen_, device_, buffers);
      if (!chain.ok()) continue;
      chains.push_back(*std::move(chain));
      made.push_back(std::move(tile));
    }
    TW_ASSIGN_OR_RETURN(const auto times,
                        bench::TimeInterleaved(chains, device_, seconds));
    for (size_t i = 0; i < made.size(); ++i)
      made[i].least_seconds = times[i].least_seconds;
    tiles = std::move(made);
    return absl::OkStatus();
  }

  absl::Status OneGroup(const Fusion& fusion, const Group& group) {
    TW_ASSIGN_OR_RETURN(std::vector<Tile> tiles, TilesOf(fusion, group));
    const size_t asked = tiles.size();
    TW_RETURN_IF_ERROR(Measure(fusion, tiles, 0));
    std::vector<double> predicted, measured;
    for (const Tile& tile : tiles) {
      predicted.push_back(tile.cost.one_core_seconds);
      measured.push_back(tile.least_seconds);
    }
    const size_t have_kernels = tiles.size();
    const double most = kHopeless * tiles[0].least_seconds;
    tiles.erase(
        std::remove_if(tiles.begin(), tiles.end(),
                       [&](const Tile& t) { return t.least_seconds > most; }),
        tiles.end());
    TW_RETURN_IF_ERROR(Measure(fusion, tiles, options_.seconds));
    const Tile& fastest = *std::min_element(
        tiles.begin(), tiles.end(), [](const Tile& a, const Tile& b) {
          return a.least_seconds < b.least_seconds;
        });
    const double ratio = tiles[0].least_seconds / fastest.least_seconds;
    TW_RETURN_IF_ERROR(Keep(group, tiles));
    ++groups_;
    close_ += ratio <= 1.05;
    std::printf("| %s | %zu of %zu | %s | %.1f | %s | %.1f | %.3f | %.2f |\n",
                model_.graph.tensor(group.output).name.c_str(), have_kernels,
                asked, Text(tiles[0].cost).c_str(),
                tiles[0].least_seconds * 1e6, Text(fastest.cost).c_str(),
                fastest.least_seconds * 1e6, ratio,
                bench::KendallTau(predicted, measured));
    std::fflush(stdout);
    return absl::OkStatus();
  }

  absl::Status Keep(Group group, const std::vector<Tile>& tiles) {
    for (const Tile& tile : tiles) {
      group.tile_plan = tile.cost.plan;
      TW_ASSIGN_OR_RETURN(KernelFeatures features, costs_.Features(group));
      samples_.push_back(
          {name_,
           absl::StrReplaceAll(
               absl::StrCat(model_.graph.tensor(group.output).name, "@",
                            Text(tile.cost)),
               {{" ", "_"}}),
           "fused", 1, tile.least_seconds * 1e6, std::move(features)});
    }
    return absl::OkStatus();
  }

  const CompiledModel& model_;
  const std::string name_;
  const Plan& plan_;
  const backends::Codegen& codegen_;
  backends::Device& device_;
  const Options& options_;
  KernelMaker maker_;
  const GroupEvaluator costs_;
  const FusionRules rules_;
  Random random_;
  std::vector<bench::KernelSample> samples_;
  int groups_ = 0, close_ = 0;
};

absl::Status Run(const Options& options) {
  TW_ASSIGN_OR_RETURN(const auto device,
                      cpu::CreateCpuDevice({.num_threads = options.threads}));
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, options.spec.empty()
                                                 ? device->spec()
                                                 : LoadSpec(options.spec));
  TW_ASSIGN_OR_RETURN(const auto codegen, cpu::CreateCpuCodegen(spec));
  CompileOptions compile;
  compile.plan.connect = PlanOptions::Connect::kTileGraph;
  std::vector<bench::KernelSample> samples;
  int groups = 0, close = 0;
  for (const std::string& dir : options.dirs) {
    TW_ASSIGN_OR_RETURN(const ImportedModel imported,
                        ImportModel(dir + "/model.onnx"));
    TW_ASSIGN_OR_RETURN(const CompiledModel model,
                        Compile(imported, *codegen, compile));
    std::printf(
        "\n%s\n\n| fused group | tiles with a kernel | chosen | us | fastest | "
        "us | chosen / fastest | tau of all "
        "|\n|---|---|---|---|---|---|---|---|"
        "\n",
        dir.c_str());
    ModelTiles tiles(model, dir.substr(dir.rfind('/') + 1), *codegen, *device,
                     options);
    TW_RETURN_IF_ERROR(tiles.Run());
    samples.insert(samples.end(), tiles.samples().begin(),
                   tiles.samples().end());
    groups += tiles.groups();
    close += tiles.close();
  }
  std::printf("\n%d of %d groups within 5 %% of the fastest tile\n", close,
              groups);
  if (options.samples.empty()) return absl::OkStatus();
  return WriteFileAtomically(options.samples, bench::ToText(samples));
}

constexpr char kUsage[] =
    "tiles [--spec=FILE] [--threads=N] [--best=N] [--drawn=N] [--seconds=S] "
    "[--seed=N] [--samples=FILE] MODEL_DIR...";

int Main(const std::vector<std::string>& arguments) {
  Options options;
  OptionParser parser;
  parser.Text("spec", &options.spec);
  parser.Number("threads", &options.threads, 1);
  parser.Number("best", &options.best, 0);
  parser.Number("drawn", &options.drawn, 0);
  parser.Number("seed", &options.seed, int64_t{0});
  parser.Number("seconds", &options.seconds, 0.0);
  parser.Text("samples", &options.samples);
  return RunOnArguments("tiles", kUsage, parser, arguments,
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
