// Plans of ten subgraphs on five devices: close to the best of all ways to fuse
// their groups, at levels that follow from the specs, and different on
// different devices because of what differs between these.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/gpu/gpu_cost_model.h"
#include "tilegraph/gpu/gpu_kernels.h"
#include "tilegraph/gpu/gpu_subgraphs.h"
#include "tilegraph/gpu/gpu_traits.h"
#include "tilegraph/testing/exhaustive_plan.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSpecs[] = {"v100", "a100", "h100", "mi210", "ipu_mk2"};

std::string LevelsOn(const GpuSubgraph& subgraph, const DeviceSpec& spec) {
  const auto plan = PlanGpuKernels(subgraph.graph, subgraph.plan, spec, {});
  return plan.ok() ? LevelsText(subgraph.graph, *plan)
                   : plan.status().ToString();
}

GpuSubgraph Named(const std::string& name) {
  std::vector<GpuSubgraph> all = GpuSubgraphs();
  for (GpuSubgraph& one : all)
    if (one.name == name) return std::move(one);
  ADD_FAILURE() << name;
  return {};
}

TEST(GpuPlansTest, AreCloseToTheBestOfAllWaysToFuse) {
  int compared = 0, close = 0;
  for (const char* name : kSpecs) {
    const DeviceSpec spec = *LoadSpec(name);
    for (const GpuSubgraph& one : GpuSubgraphs()) {
      GpuKernelsOptions options;
      options.least_gain = 0;
      TW_ASSERT_OK_AND_ASSIGN(
          const GpuPlan plan,
          PlanGpuKernels(one.graph, one.plan, spec, options));
      GpuTilePlans tiles(one.graph, plan.plan, spec, options.tiling);
      const Exhaustive all(one.graph, plan.plan, [&](const Group& group) {
        const auto best = tiles.Of(group);
        return best.ok() ? best->front().cost.seconds
                         : std::numeric_limits<double>::infinity();
      });
      ASSERT_TRUE(all.any()) << one.name << " on " << name;
      EXPECT_GE(plan.seconds(), all.least() * (1 - 1e-9));
      ++compared;
      close += plan.seconds() <= 1.05 * all.least();
      if (plan.seconds() > 1.05 * all.least())
        std::printf("%s on %s: %.1f us found, %.1f us is the least\n",
                    one.name.c_str(), name, plan.seconds() * 1e6,
                    all.least() * 1e6);
    }
  }
  EXPECT_EQ(compared, 50);
  EXPECT_EQ(close, 50);
}

// A tensor between kernels leaves the chip if its level there may not hold it,
// whatever the device; what a kernel keeps fits its scratchpad.
TEST(GpuPlansTest, LevelsFollowFromTheSpec) {
  std::set<std::string> between;
  for (const char* name : kSpecs) {
    const DeviceSpec spec = *LoadSpec(name);
    const double kept = spec.cost_model().kept_shared_share() *
                        static_cast<double>(spec.levels(1).capacity_bytes());
    for (const GpuSubgraph& one : GpuSubgraphs()) {
      TW_ASSERT_OK_AND_ASSIGN(const GpuPlan plan,
                              PlanGpuKernels(one.graph, one.plan, spec, {}));
      for (const GpuKernel& kernel : plan.kernels) {
        ASSERT_FALSE(kernel.tiles.empty()) << one.name << " on " << name;
        const GpuTilePlan& tiles = kernel.tiles.front();
        EXPECT_LE(tiles.shared_bytes, spec.unit().scratchpad_bytes_per_block());
        for (const LevelOfEdge& edge : LevelsOfEdges(one.graph, tiles)) {
          if (std::count(tiles.part.members.begin(), tiles.part.members.end(),
                         edge.tensor) > 0) {
            EXPECT_TRUE(edge.level->scope() == MemoryLevel::CORE ||
                        edge.level->scope() == MemoryLevel::THREAD);
            continue;
          }
          const Tensor& tensor = one.graph.tensor(edge.tensor);
          const auto bytes = static_cast<double>(tensor.num_bytes());
          EXPECT_EQ(edge.level->name(),
                    spec.levels(bytes <= kept ? 1 : 0).name())
              << tensor.name << " of " << one.name << " on " << name;
          between.insert(edge.level->name());
        }
      }
    }
  }
  EXPECT_THAT(between, ::testing::ElementsAre("dram", "exchange", "l2"));
}

// One device is planned as another once it has that one trait of it.
TEST(GpuPlansTest, DifferBecauseOfWhatDiffersBetweenTheDevices) {
  const struct {
    const char *subgraph, *spec, *other;
    GpuTrait trait;
  } kCauses[] = {
      // A row of 64 KiB and what it becomes fit together, or one of them.
      {"wide softmax", "v100", "a100", GpuTrait::kScratchpad},
      {"wide softmax", "v100", "mi210", GpuTrait::kScratchpad},
      {"wide softmax", "v100", "ipu_mk2", GpuTrait::kScratchpad},
      // A group of 128 KiB is normalised in one kernel.
      {"GroupNorm, SiLU, Conv", "v100", "a100", GpuTrait::kScratchpad},
      {"GroupNorm, SiLU, Conv", "v100", "h100", GpuTrait::kScratchpad},
      // 3 MB between the convolutions stay in an L2 of more than 6 MiB.
      {"residual block", "v100", "a100", GpuTrait::kOnChip},
      {"residual block", "v100", "mi210", GpuTrait::kOnChip},
      {"residual block", "v100", "ipu_mk2", GpuTrait::kOnChip},
      {"LayerNorm, product", "v100", "a100", GpuTrait::kOnChip},
      // Matrix units for f32 leave the memory as what takes longest.
      {"MLP", "v100", "mi210", GpuTrait::kPeaks},
      {"MLP", "v100", "ipu_mk2", GpuTrait::kOnChip},
      // A product that waits for a slow memory has the time to normalise again.
      {"LayerNorm, product", "v100", "ipu_mk2", GpuTrait::kMemory},
      // Fusing all three takes more room than a V100 has without loss.
      {"inverted residual", "v100", "a100", GpuTrait::kScratchpad},
  };
  for (const auto& cause : kCauses) {
    const GpuSubgraph one = Named(cause.subgraph);
    const DeviceSpec spec = *LoadSpec(cause.spec);
    const DeviceSpec other = *LoadSpec(cause.other);
    const std::string levels = LevelsOn(one, other);
    EXPECT_NE(LevelsOn(one, spec), levels) << cause.subgraph;
    const DeviceSpec mixed = WithTraits(spec, other, {cause.trait});
    EXPECT_EQ(LevelsOn(one, mixed), levels)
        << cause.subgraph << " on " << cause.spec << " with the "
        << Name(cause.trait) << " of " << cause.other;
  }
}

TEST(GpuPlansTest, WhyNamesTheLimitAndWhatElseWouldTake) {
  const GpuSubgraph mlp = Named("MLP");
  const DeviceSpec v100 = *LoadSpec("v100");
  // With launches as long as those of a V100 one kernel pays.
  DeviceSpec h100 = *LoadSpec("h100");
  h100.mutable_unit()->set_launch_ns(v100.unit().launch_ns());
  TW_ASSERT_OK_AND_ASSIGN(const GpuPlan unfused,
                          PlanGpuKernels(mlp.graph, mlp.plan, v100, {}));
  const std::string why = WhyText(mlp.graph, unfused, 1);
  EXPECT_THAT(why, HasSubstr("group 1 (Y): "));
  EXPECT_THAT(why, HasSubstr("limited by peak"));
  EXPECT_THAT(why, HasSubstr("edges in dram: R->Y"));
  EXPECT_THAT(why, HasSubstr("not fused as 0+1 (R, Y): "));
  EXPECT_THAT(why, HasSubstr("of scratchpad a block"));
  ASSERT_EQ(unfused.kernels.size(), 2);
  const GpuAlternative& fused = unfused.kernels[1].alternatives.at(0);
  EXPECT_GT(fused.tiles->cost.seconds, 0.95 * unfused.seconds());
  EXPECT_DOUBLE_EQ(fused.unfused_seconds, unfused.seconds());
  TW_ASSERT_OK_AND_ASSIGN(const GpuPlan joint,
                          PlanGpuKernels(mlp.graph, mlp.plan, h100, {}));
  ASSERT_EQ(joint.kernels.size(), 1);
  const std::string gain = WhyText(mlp.graph, joint, 0);
  EXPECT_THAT(gain, HasSubstr("edges in registers: T->R; in shared: R->Y"));
  EXPECT_THAT(gain, HasSubstr("fused: saves "));
  // Its tile is one that a V100 has no room for.
  EXPECT_GT(joint.kernels[0].tiles[0].shared_bytes,
            v100.unit().scratchpad_bytes_per_block());
  EXPECT_LT(joint.seconds(), 0.95 * joint.kernels[0].unfused_seconds());
}

}  // namespace
}  // namespace tilewright
