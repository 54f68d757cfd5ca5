// The plan that is searched for against the best of all: every way to fuse the
// groups of small graphs, each in every tile that a schedule can have, by the
// cost model that makes kernels.
#include "tilegraph/testing/exhaustive_plan.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/cost/core_levels.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/cost/group_cost_model.h"
#include "tilegraph/cost/search_tiles.h"
#include "tilegraph/cost/stage_rules.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/fuse/fused_groups.h"
#include "tilegraph/gpu/gpu_cost_model.h"
#include "tilegraph/gpu/gpu_tiling.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/testing/random_graph.h"

namespace tilewright {
namespace {

constexpr int kGraphs = 300;

// On a core with caches, in blocks of the last stage's reduction too.
InBestTile OnCores(const TensorGraph& graph, const GroupEvaluator& model,
                   const DeviceSpec& spec) {
  return [&](Group group) {
    const int64_t lanes = spec.unit().vector_bytes() / 4;
    const std::vector<int64_t> shape =
        graph.tensor(group.output).static_shape();
    const int vector_dim = model.tensor_levels().VectorDim(group.output);
    std::vector<std::vector<int64_t>> tiles = {{}};
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool vectors = static_cast<int>(d) == vector_dim;
      std::vector<std::vector<int64_t>> longer;
      for (const int64_t size : DividingSizes(shape[d], vectors ? lanes : 1)) {
        for (std::vector<int64_t> tile : tiles) {
          tile.push_back(size);
          longer.push_back(std::move(tile));
        }
      }
      tiles = std::move(longer);
    }
    std::vector<int64_t> steps = {0};
    if (!group.stages.empty()) {
      for (const int64_t step : ReduceStepsWorthTrying(graph, group, lanes))
        steps.push_back(step);
    }
    double least = std::numeric_limits<double>::infinity();
    for (const int64_t step : steps) {
      for (const std::vector<int64_t>& tile : tiles) {
        const absl::StatusOr<GroupCost> cost = model.Cost(group, tile, step);
        if (cost.ok() && cost->fits)
          least = std::min(least, cost->core_seconds);
      }
    }
    return least;
  };
}

// In all tiles of a block.
InBestTile OnGpu(const GroupCostModel& of_all_tiles) {
  return [&](const Group& group) {
    const absl::StatusOr<std::vector<GroupCost>> costs =
        of_all_tiles.BestFew(group, 1);
    return costs.ok() ? costs->front().core_seconds
                      : std::numeric_limits<double>::infinity();
  };
}

// A machine with caches as small as the graphs, and as slow: what starts a task
// takes no longer than what it moves.
DeviceSpec SmallMachine(const char* name, int64_t capacity, Random& random) {
  DeviceSpec spec = *LoadSpec(name);
  const int private_level = PrivateLevel(spec);
  for (int level = 1; level <= ClosestLevel(spec); ++level) {
    const int inwards = level - private_level;
    spec.mutable_levels(level)->set_capacity_bytes(
        inwards < 0 ? 8 * capacity : capacity >> (3 * inwards));
  }
  const double slower = 1e9 / spec.levels(0).read_bytes_per_s();
  for (MemoryLevel& level : *spec.mutable_levels()) {
    level.set_read_bytes_per_s(slower * level.read_bytes_per_s());
    level.set_write_bytes_per_s(slower * level.write_bytes_per_s());
    level.set_aggregate_read_bytes_per_s(slower *
                                         level.aggregate_read_bytes_per_s());
    level.set_aggregate_write_bytes_per_s(slower *
                                          level.aggregate_write_bytes_per_s());
  }
  spec.mutable_unit()->set_launch_ns(random.UniformInt(10, 300));
  spec.mutable_unit()->set_vector_bytes(16);
  return spec;
}

DeviceSpec SmallGpu(int64_t capacity, Random& random) {
  DeviceSpec spec = *LoadSpec("v100");
  spec.mutable_unit()->set_scratchpad_bytes_per_block(capacity);
  spec.mutable_unit()->set_launch_ns(random.UniformInt(10, 300));
  return spec;
}

// A graph of four computes in at least three groups.
struct Case {
  TensorGraph graph;
  Plan plan;
};
std::optional<Case> DrawCase(uint64_t seed) {
  RandomGraphOptions draw;
  draw.f32_only = true;
  Case drawn;
  drawn.graph = BuildGraph(RandomChain(seed, /*computes=*/4), seed, draw);
  PlanOptions options;
  options.connect = PlanOptions::Connect::kTileGraph;
  options.channel_block = 0;
  drawn.plan = MakePlan(drawn.graph, options);
  if (drawn.plan.groups.size() < 3) return std::nullopt;
  return drawn;
}

// Core seconds of the plan that the search finds; no kernel overflows.
double Found(const Case& one, const GroupCostModel& model,
             bool may_move_more = false) {
  ConnectPlanOptions connect;
  connect.evaluate.least_gain = 0;
  connect.evaluate.may_move_more = may_move_more;
  const ConnectedGroups connected =
      ConnectPlan(one.graph, one.plan, model, connect);
  double found = 0;
  std::set<int> inside;
  for (const FusionDecision& decision : connected.decisions) {
    if (decision.taken) EXPECT_TRUE(decision.fused.fits);
  }
  const FusionRules rules(one.graph, one.plan);
  for (const Fusion& fusion : connected.fusions) {
    inside.insert(fusion.groups.begin(), fusion.groups.end());
    const absl::StatusOr<std::vector<GroupCost>> costs =
        model.BestFew(*rules.Fused(fusion.groups), 1);
    EXPECT_TRUE(costs.ok() && costs->front().fits);
    found += costs->front().core_seconds;
  }
  for (size_t g = 0; g < connected.costs.size(); ++g) {
    if (!inside.count(static_cast<int>(g)))
      found += connected.costs[g].core_seconds;
  }
  return found;
}

// Sums over the cases that were compared.
class Tally {
 public:
  void Add(uint64_t seed, double found, const Exhaustive& all) {
    EXPECT_GE(found, all.least() * (1 - 1e-9)) << "seed " << seed;
    ++compared_;
    mixed_ += all.mixed();
    close_ += found <= 1.05 * all.least();
    if (found > 1.05 * all.least())
      std::printf("seed %d: %.0f ns found, %.0f ns is the least\n",
                  static_cast<int>(seed), found * 1e9, all.least() * 1e9);
  }
  int compared() const { return compared_; }
  void Check() const {
    std::printf("%d of %d within 5 %%; the best of %d fuses some, not all\n",
                close_, compared_, mixed_);
    EXPECT_GE(close_, compared_ * 95 / 100);
    EXPECT_GE(mixed_, compared_ * 30 / 100);
  }

 private:
  int compared_ = 0, close_ = 0, mixed_ = 0;
};

// The two sides of one case on a device whose innermost shared room is of
// `capacity` bytes.
struct Compared {
  Exhaustive all;
  double found;
};
using Compare =
    std::function<Compared(const Case& one, int64_t capacity, Random& random)>;

// Rooms are those for which neither all nor nothing is best to fuse, if there
// are such.
void CompareCases(const Compare& compare) {
  Tally tally;
  for (uint64_t seed = 0; tally.compared() < kGraphs; ++seed) {
    const std::optional<Case> one = DrawCase(seed);
    if (!one) continue;
    for (int64_t capacity = 16384; capacity >= 256;
         capacity = capacity * 2 / 3) {
      Random random(seed);
      const Compared compared = compare(*one, capacity, random);
      if (!compared.all.any()) break;
      if (!compared.all.mixed() && capacity * 2 / 3 >= 256) continue;
      tally.Add(seed, compared.found, compared.all);
      break;
    }
  }
  tally.Check();
}

void CompareOnCores(const char* name) {
  CompareCases([&](const Case& one, int64_t capacity, Random& random) {
    const DeviceSpec spec = SmallMachine(name, capacity, random);
    const GroupEvaluator model(one.graph, one.plan, spec);
    return Compared{
        Exhaustive(one.graph, one.plan, OnCores(one.graph, model, spec)),
        Found(one, model)};
  });
}

TEST(ExhaustivePlanTest, PlansOfTwoCachesAreCloseToTheBestOfAll) {
  CompareOnCores("unit");
}

TEST(ExhaustivePlanTest, PlansOfThreeCachesAreCloseToTheBestOfAll) {
  CompareOnCores("cpu_x86_64_v4");
}

TEST(ExhaustivePlanTest, PlansOfGpusAreCloseToTheBestOfAll) {
  CompareCases([](const Case& one, int64_t capacity, Random& random) {
    const DeviceSpec spec = SmallGpu(capacity, random);
    GpuTilingOptions searched, every_tile;
    every_tile.visits = every_tile.patience = 1 << 20;
    GpuTilePlans plans(one.graph, one.plan, spec, searched);
    GpuTilePlans all_plans(one.graph, one.plan, spec, every_tile);
    const GpuCostModel model(plans);
    const GpuCostModel of_all_tiles(all_plans);
    return Compared{Exhaustive(one.graph, one.plan, OnGpu(of_all_tiles)),
                    Found(one, model, /*may_move_more=*/true)};
  });
}

}  // namespace
}  // namespace tilewright
