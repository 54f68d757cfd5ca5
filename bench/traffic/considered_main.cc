// Bytes into a core's cache as the planner's cost model predicts them, and as
// the simulator counts them for the very kernels: for tiles that the planner
// considered of the groups it fused or thought of fusing, by what it expected
// of them; for the fused ones as it took them, by what was written back; and
// for tiles drawn at random beside them.
//
//   considered --seed=HEX [--tiles=N] [--print]
//
// Graphs are drawn from the seed; the spec is that of a core with AVX-512 and
// caches so small that tiles matter. `tiles`: of each kind.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cache_sim/simulate_kernel.h"
#include "backends/codegen.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/spec/load_spec.h"
#include "base/option_parser.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "compiler/kernels/group_workload.h"
#include "compiler/kernels/kernel_maker.h"
#include "tilegraph/cost/core_levels.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/cost/search_tiles.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/fuse/fused_groups.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/testing/random_graph.h"

namespace tilewright {
namespace {

constexpr char kSpec[] = "cpu_x86_64_v4";
constexpr int kTilesOfAGroup = 8;  // of each kind
constexpr int kAllTiles = 1 << 20;
// Least bytes across a group's boundary: below, a few lines are 10 %.
constexpr int64_t kLeastBytes = 4096;

// Scalar kernels of small vectors; nothing runs them but the simulator.
class SimulatedCodegen : public backends::Codegen {
 public:
  explicit SimulatedCodegen(const DeviceSpec& spec) : spec_(spec) {}
  const DeviceSpec& spec() const override { return spec_; }
  absl::StatusOr<kernel_ir::ScalarKernel> Legalize(
      const kernel_ir::Kernel& kernel) const override {
    lowering::VectorTarget target;
    target.vector_bytes = spec_.unit().vector_bytes();
    return lowering::Legalize(kernel, target);
  }
  absl::StatusOr<backends::Module> Emit(
      absl::Span<const kernel_ir::ScalarKernel>) const override {
    return absl::UnimplementedError("simulated kernels have no code");
  }
  absl::StatusOr<std::string> Source(
      const kernel_ir::ScalarKernel&) const override {
    return absl::UnimplementedError("simulated kernels have no code");
  }

 private:
  const DeviceSpec spec_;
};

// One core whose own cache is of `capacity_bytes`, and the next inner one of an
// eighth; tensors between kernels lie in the cache around them.
DeviceSpec SmallCaches(int64_t capacity_bytes) {
  DeviceSpec spec = *LoadSpec(kSpec);
  const int own = PrivateLevel(spec);
  for (int level = own; level <= ClosestLevel(spec); ++level)
    spec.mutable_levels(level)->set_capacity_bytes(capacity_bytes >>
                                                   (3 * (level - own)));
  spec.mutable_unit()->set_cores(4);
  spec.mutable_cost_model()->set_kept_private_share(0);
  spec.mutable_cost_model()->set_kept_shared_share(1);
  return spec;
}

int64_t BoundaryBytes(const TensorGraph& graph, const Group& group) {
  std::vector<TensorId> boundary = group.inputs;
  boundary.push_back(group.output);
  boundary.insert(boundary.end(), group.side_outputs.begin(),
                  group.side_outputs.end());
  int64_t bytes = 0;
  for (const TensorId id : boundary) {
    const Tensor& tensor = graph.tensor(id);
    bytes += tensor.num_bytes();
  }
  return bytes;
}

absl::StatusOr<double> SimulatedBytes(const kernel_ir::ScalarKernel& scalar,
                                      const DeviceSpec& spec) {
  std::vector<std::string> args;
  for (const kernel_ir::ScalarBuffer& buffer : scalar.buffers) {
    if (buffer.role != kernel_ir::Role::kLocal)
      args.push_back(
          std::string(buffer.elements * SizeBytes(buffer.dtype), '\0'));
  }
  TW_ASSIGN_OR_RETURN(
      const std::vector<cache_sim::Crossing> crossings,
      cache_sim::SimulateKernel(scalar, absl::MakeSpan(args), spec,
                                {.is_scratch_warm = true}));
  return static_cast<double>(crossings[PrivateLevel(spec) - 1].bytes());
}

// How far predictions are off.
class Errors {
 public:
  Errors(std::string kind, bool print)
      : kind_(std::move(kind)), print_(print) {}

  void Add(double predicted, double simulated, const std::string& what) {
    ratios_.push_back(predicted / simulated);
    if (print_ && std::abs(ratios_.back() - 1) > 0.1)
      std::printf("%s: predicted %.0f, simulated %.0f: %s\n", kind_.c_str(),
                  predicted, simulated, what.c_str());
  }
  void Refuse() { ++refused_; }
  size_t size() const { return ratios_.size(); }

  void PrintRow() const {
    const auto within = [&](double share) {
      return 100.0 *
             static_cast<double>(std::count_if(
                 ratios_.begin(), ratios_.end(),
                 [&](double ratio) { return std::abs(ratio - 1) <= share; })) /
             static_cast<double>(std::max<size_t>(1, ratios_.size()));
    };
    std::vector<double> sorted = ratios_;
    std::sort(sorted.begin(), sorted.end());
    const auto quantile = [&](double q) {
      return sorted.empty() ? 0
                            : sorted[static_cast<size_t>(
                                  q * static_cast<double>(sorted.size() - 1))];
    };
    std::printf("| %s | %zu | %d | %.1f | %.1f | %.2f | %.2f | %.2f |\n",
                kind_.c_str(), ratios_.size(), refused_, within(0.1),
                within(0.25), quantile(0.05), quantile(0.5), quantile(0.95));
  }

 private:
  const std::string kind_;
  const bool print_;
  std::vector<double> ratios_;
  int refused_ = 0;  // tiles without a kernel
};

// The tiles of one group of one drawn graph.
class GroupTiles {
 public:
  GroupTiles(const TensorGraph& graph, const Plan& plan,
             const std::vector<int>& groups, const DeviceSpec& spec,
             const GroupEvaluator& model, KernelMaker& maker)
      : graph_(graph),
        plan_(plan),
        groups_(groups),
        spec_(spec),
        model_(model),
        maker_(maker) {}

  // Predicted and simulated.
  absl::StatusOr<std::pair<double, double>> Bytes(const GroupCost& cost) {
    const Plan fused =
        FusionRules(graph_, plan_).WithFusions({{groups_, cost.plan, ""}});
    const Group& group =
        *std::find_if(fused.groups.begin(), fused.groups.end(),
                      [](const Group& one) { return !one.stages.empty(); });
    const absl::StatusOr<CompiledKernel>& kernel =
        maker_.Make(MakeGroupWorkload(graph_, fused, group));
    TW_RETURN_IF_ERROR(kernel.status());
    TW_ASSIGN_OR_RETURN(const double simulated,
                        SimulatedBytes(kernel->scalar, spec_));
    return std::pair(cost.levels[PrivateLevel(spec_) - 1].both(), simulated);
  }

  // A tile of whatever sizes divide the output, if it fits.
  std::optional<GroupCost> Drawn(const Group& group, Random& random) const {
    const std::vector<int64_t> shape =
        graph_.tensor(group.output).static_shape();
    std::vector<int64_t> tile;
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool vectors =
          static_cast<int>(d) == model_.tensor_levels().VectorDim(group.output);
      const std::vector<int64_t> sizes = DividingSizes(
          shape[d], vectors ? spec_.unit().vector_bytes() / 4 : 1);
      tile.push_back(sizes[random.Index(sizes.size())]);
    }
    absl::StatusOr<GroupCost> cost = model_.Cost(group, tile);
    if (!cost.ok() || !cost->fits) return std::nullopt;
    return *std::move(cost);
  }

 private:
  const TensorGraph& graph_;
  const Plan& plan_;
  const std::vector<int>& groups_;
  const DeviceSpec& spec_;
  const GroupEvaluator& model_;
  KernelMaker& maker_;
};

class Comparison {
 public:
  Comparison(uint64_t seed, size_t tiles, bool print)
      : random_(seed),
        tiles_(tiles),
        taken_("taken", print),
        considered_("considered", print),
        drawn_("drawn at random", print) {}

  void Run() {
    while (considered_.size() < tiles_ || drawn_.size() < tiles_) OneGraph();
    std::printf(
        "| tiles | compared | no kernel | within 10 %% | within 25 %% | 5th "
        "percentile of predicted / simulated | median | 95th |\n"
        "|---|---|---|---|---|---|---|---|\n");
    for (const Errors* errors : {&considered_, &taken_, &drawn_})
      errors->PrintRow();
  }

 private:
  void OneGraph() {
    const uint64_t seed = random_.Next();
    RandomGraphOptions draw;
    draw.f32_only = true;
    draw.max_elements = 65536;
    draw.max_points = 1 << 20;
    const TensorGraph graph =
        BuildGraph(RandomChain(seed, /*computes=*/4), seed, draw);
    PlanOptions options;
    options.connect = PlanOptions::Connect::kTileGraph;
    options.channel_block = 0;
    const Plan plan = MakePlan(graph, options);
    const DeviceSpec spec = SmallCaches(1024 * random_.UniformInt(8, 64));
    const GroupEvaluator model(graph, plan, spec);
    ConnectPlanOptions connect;
    connect.evaluate.least_gain = 0;
    const SimulatedCodegen codegen(spec);
    KernelMaker maker(codegen);
    connect.evaluate.generate =
        [&](const Group& group, const Plan& fused) -> absl::StatusOr<TilePlan> {
      const absl::StatusOr<CompiledKernel>& kernel =
          maker.Make(MakeGroupWorkload(graph, fused, group));
      TW_RETURN_IF_ERROR(kernel.status());
      return kernel->schedule.tile_plan.value_or(group.tile_plan);
    };
    const ConnectedGroups connected = ConnectPlan(graph, plan, model, connect);
    const FusionRules rules(graph, plan);
    for (const FusionDecision& decision : connected.decisions) {
      const absl::StatusOr<Group> group = rules.Fused(decision.groups);
      if (!group.ok() || BoundaryBytes(graph, *group) < kLeastBytes) continue;
      absl::StatusOr<std::vector<GroupCost>> costs =
          model.BestFew(*group, kAllTiles);
      if (!costs.ok() || !costs->front().fits) continue;
      GroupTiles tiles(graph, plan, decision.groups, spec, model, maker);
      const std::string name = absl::StrCat(
          "graph ", seed, ", groups ", absl::StrJoin(decision.groups, "+"),
          ", cache of ", spec.levels(PrivateLevel(spec)).capacity_bytes());
      if (decision.taken) Compare(tiles, decision.fused, name, taken_);
      random_.Shuffle(absl::MakeSpan(*costs));
      for (size_t i = 0; i < costs->size() && i < kTilesOfAGroup; ++i)
        Compare(tiles, (*costs)[i], name, considered_);
      for (int i = 0; i < kTilesOfAGroup; ++i) {
        if (const auto cost = tiles.Drawn(*group, random_))
          Compare(tiles, *cost, name, drawn_);
      }
    }
  }

  static void Compare(GroupTiles& tiles, const GroupCost& cost,
                      const std::string& name, Errors& errors) {
    const auto bytes = tiles.Bytes(cost);
    if (!bytes.ok()) return errors.Refuse();
    errors.Add(bytes->first, bytes->second,
               absl::StrCat(name, ", tile ", absl::StrJoin(cost.plan.tile, "x"),
                            cost.plan.reduce_step() > 0 ? " in blocks of " : "",
                            cost.plan.reduce_step() > 0
                                ? absl::StrCat(cost.plan.reduce_step())
                                : ""));
  }

  Random random_;
  const size_t tiles_;
  Errors taken_, considered_, drawn_;
};

constexpr char kUsage[] = "considered --seed=HEX [--tiles=N] [--print]";

int Main(const std::vector<std::string>& arguments) {
  OptionParser parser;
  std::optional<uint64_t> seed;
  int tiles = 1000;
  bool print = false;
  parser.Value("seed", [&](absl::string_view text) -> absl::Status {
    uint64_t value = 0;
    if (!absl::SimpleHexAtoi(text.substr(0, 16), &value))
      return absl::InvalidArgumentError("is no hexadecimal number");
    seed = value;
    return absl::OkStatus();
  });
  parser.Number("tiles", &tiles, 1);
  parser.Flag("print", &print);
  const auto rest = parser.Parse(arguments);
  if (!rest.ok()) return ReportUsage(kUsage, rest.status());
  if (!seed || !rest->empty())
    return ReportUsage(
        kUsage, absl::InvalidArgumentError("a seed is needed, and no more"));
  Comparison(*seed, static_cast<size_t>(tiles), print).Run();
  return 0;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  return tilewright::Main({argv + 1, argv + argc});
}
