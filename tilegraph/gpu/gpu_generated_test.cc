// What generators make of planned tiles (GpuTileEvaluator::AsGenerated,
// GpuTilePlans with a generator), with generators made up here.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/gpu/generated_block.h"
#include "tilegraph/gpu/gpu_cost_model.h"
#include "tilegraph/gpu/gpu_tile_evaluator.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/gpu/gpu_tiling.h"
#include "tilegraph/gpu/hardware/taken_registers.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/testing/test_graphs.h"
#include "tilegraph/text/text_form.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A product in the tiles of its plan, on an A100.
class GpuGeneratedTest : public testing::Test {
 protected:
  void SetUp() override {
    GpuTilingOptions options;
    options.use = kThreadsOnly;
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<GpuTilePlan> plans,
                            TileForGpu(tiles_, part_, spec_, options));
    planned_ = plans.front();
    as_planned_.tile = *planned_.block;
    as_planned_.threads = planned_.threads;
    as_planned_.shared_bytes = planned_.shared_bytes;
    for (const SharedOperand& operand : planned_.shared)
      as_planned_.shared[operand.tensor] = operand.bytes;
    const ThreadTile& simt = planned_.clusters[0].simt;
    as_planned_.tile.divisions[*graph_.Find("C")] = {simt.threads, simt.vector,
                                                     simt.reduce_threads};
  }

  const TensorGraph graph_ = Matmul(1024, 512, 768);
  const DeviceSpec spec_ = *LoadSpec("a100");
  const TileGraph tiles_{graph_, {*graph_.Find("C")}};
  const Subgraph part_ = tiles_.SubgraphOf({*graph_.Find("C")});
  GpuTileEvaluator evaluator_{tiles_, part_, spec_, kThreadsOnly};
  GpuTilePlan planned_;
  GeneratedBlock as_planned_;
};

TEST_F(GpuGeneratedTest, WhatComesOutAsPlannedCostsAsPlanned) {
  TW_ASSERT_OK_AND_ASSIGN(const GpuTilePlan made,
                          evaluator_.AsGenerated(as_planned_));
  EXPECT_TRUE(made.generated);
  EXPECT_EQ(made.grid, planned_.grid);
  EXPECT_EQ(made.shared_bytes, planned_.shared_bytes);
  EXPECT_DOUBLE_EQ(made.cost.seconds, planned_.cost.seconds);
  EXPECT_THAT(Differences(planned_, made), IsEmpty());
}

TEST_F(GpuGeneratedTest, WhatIsNotStagedIsLoadedByEachWarp) {
  const TensorId b = *graph_.Find("B");
  GeneratedBlock block = as_planned_;
  block.shared_bytes -= block.shared.at(b);
  block.shared.erase(b);
  TW_ASSERT_OK_AND_ASSIGN(const GpuTilePlan made,
                          evaluator_.AsGenerated(block));
  EXPECT_GT(made.cost.near_bytes, planned_.cost.near_bytes);
  EXPECT_LT(made.cost.shared_bytes, planned_.cost.shared_bytes);
  const std::vector<GpuDifference> differences = Differences(planned_, made);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(ToString(graph_, differences[0]),
            "B is not in the scratchpad: it is read where it lies");
  EXPECT_THAT(LevelsOfEdges(graph_, made), IsEmpty());
}

TEST_F(GpuGeneratedTest, OccupancyIsThatOfTheSchedule) {
  GeneratedBlock block = as_planned_;
  block.shared_bytes = spec_.unit().scratchpad_bytes_per_block();
  TW_ASSERT_OK_AND_ASSIGN(const GpuTilePlan large,
                          evaluator_.AsGenerated(block));
  EXPECT_EQ(large.occupancy.blocks_per_core, 1);
  EXPECT_EQ(large.occupancy.limit, Occupancy::Limit::kScratchpad);
  EXPECT_GE(large.cost.seconds, planned_.cost.seconds);
  ++block.shared_bytes;
  EXPECT_THAT(evaluator_.AsGenerated(block),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("no room for a block")));
}

// The scratchpad and the L1 beside it serve what the kernel's warps ask for,
// whatever was planned.
TEST_F(GpuGeneratedTest, TimeOfTheScratchpadIsThatOfTheRequests) {
  const TensorId a = *graph_.Find("A"), b = *graph_.Find("B");
  GeneratedBlock block = as_planned_;
  block.requested_turns = {{a, 3e6}, {b, 5e6}};
  block.requested_sectors = {{a, 7}};
  TW_ASSERT_OK_AND_ASSIGN(const GpuTilePlan made,
                          evaluator_.AsGenerated(block));
  constexpr double kTurnBytes = 32 * 4;
  EXPECT_EQ(made.cost.shared_bytes, 8e6 * kTurnBytes + 7 * 32);
  EXPECT_DOUBLE_EQ(made.cost.shared_seconds * planned_.cost.shared_bytes,
                   planned_.cost.shared_seconds * made.cost.shared_bytes);
  EXPECT_EQ(made.cost.near_bytes, planned_.cost.near_bytes);
  EXPECT_EQ(made.cost.requested_turns, block.requested_turns);
  EXPECT_EQ(made.cost.requested_sectors, block.requested_sectors);
}

// On a device whose times were measured: instructions and lines take what they
// take, and what overlaps is not hidden altogether.
TEST_F(GpuGeneratedTest, MeasuredDevicesIssueInstructionsAndLookUpLines) {
  DeviceSpec measured = spec_;
  measured.mutable_cost_model()->set_overlap_exponent(2);
  GpuTileEvaluator evaluator{tiles_, part_, measured, kThreadsOnly};
  const TensorId a = *graph_.Find("A");
  GeneratedBlock block = as_planned_;
  block.requested_turns = {{a, 3e6}};
  block.requested_sectors = {{a, 7e6}};
  block.requested_lines = 5e6;
  block.warp_instructions = 1e9;
  TW_ASSERT_OK_AND_ASSIGN(const GpuTilePlan made, evaluator.AsGenerated(block));
  constexpr double kTurnBytes = 32 * 4;
  EXPECT_EQ(made.cost.shared_bytes, (3e6 + 5e6) * kTurnBytes);
  // Four schedulers a core at 1410 MHz, each an instruction a clock at best.
  const double least = 1e9 / (4 * 1.41e9 * 108);
  EXPECT_GE(made.cost.compute_seconds, least);
  block.warp_instructions *= 2;
  TW_ASSERT_OK_AND_ASSIGN(const GpuTilePlan twice,
                          evaluator.AsGenerated(block));
  EXPECT_DOUBLE_EQ(twice.cost.compute_seconds, 2 * made.cost.compute_seconds);
  for (const GpuTilePlan& plan : {made, twice}) {
    const double outside =
        std::max(plan.cost.near_seconds, plan.cost.memory_seconds);
    if (plan.cost.overlaps) {
      EXPECT_NEAR(plan.cost.work_seconds,
                  std::hypot(plan.cost.compute_seconds,
                             plan.cost.shared_seconds, outside),
                  1e-9 * plan.cost.work_seconds);
    }
    EXPECT_GE(plan.cost.wait_seconds,
              FindLevel(measured, "dram")->latency_ns() * 1e-9);
    EXPECT_DOUBLE_EQ(plan.cost.seconds, plan.cost.work_seconds +
                                            plan.cost.wait_seconds +
                                            plan.cost.sync_seconds +
                                            measured.unit().launch_ns() * 1e-9);
  }
  // Elsewhere none of that is known.
  TW_ASSERT_OK_AND_ASSIGN(const GpuTilePlan unmeasured,
                          evaluator_.AsGenerated(block));
  EXPECT_EQ(unmeasured.cost.shared_bytes, 3e6 * kTurnBytes + 7e6 * 32);
  EXPECT_EQ(unmeasured.cost.wait_seconds, 0);
}

// What its values need, not what was planned, says how many blocks a core
// takes.
TEST_F(GpuGeneratedTest, RegistersAreThoseOfTheKernel) {
  int64_t most_blocks = 0, last_blocks = 0;
  for (const int64_t live : {16, 60, 120, 240}) {
    GeneratedBlock block = as_planned_;
    block.shared_bytes = 0;
    block.live_registers = live;
    TW_ASSERT_OK_AND_ASSIGN(const GpuTilePlan made,
                            evaluator_.AsGenerated(block));
    EXPECT_EQ(made.registers_per_thread,
              TakenRegisters(spec_.unit(), live, 0, block.threads));
    last_blocks = made.occupancy.blocks_per_core;
    most_blocks = std::max(most_blocks, last_blocks);
  }
  EXPECT_GT(most_blocks, 2 * last_blocks);
}

TEST_F(GpuGeneratedTest, MoreValuesThanRegistersAreNoTile) {
  GeneratedBlock block = as_planned_;
  block.live_registers = spec_.unit().registers_per_thread() + 1;
  EXPECT_EQ(evaluator_.AsGenerated(block).status().code(),
            absl::StatusCode::kResourceExhausted);
}

// Columns of W lie in one bank unless its rows are padded.
TEST(GpuConflictsTest, APaddingThatIsNotTakenLeavesItsConflicts) {
  const TensorGraph graph = *ParseText(R"(
    X: f32[512, 512] = placeholder
    W: f32[512, 512] = placeholder
    Y: f32[512, 512] = compute (m: 512, n: 512) reduce (k: 512) sum:f32 {
      X[m, k] * W[n, k] }
    return Y)");
  const TensorId w = *graph.Find("W"), y = *graph.Find("Y");
  const DeviceSpec spec = *LoadSpec("a100");
  const TileGraph tiles(graph, {y});
  const Subgraph part = tiles.SubgraphOf({y});
  GpuTilingOptions options;
  options.use = kThreadsOnly;
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<GpuTilePlan> plans,
                          TileForGpu(tiles, part, spec, options));
  const GpuTilePlan& planned = plans.front();
  ASSERT_GT(planned.block->row_padding.count(w), 0u);
  GeneratedBlock made;
  made.tile = *planned.block;
  made.threads = planned.threads;
  made.shared_bytes = planned.shared_bytes;
  for (const SharedOperand& operand : planned.shared)
    made.shared[operand.tensor] = operand.bytes;
  const ThreadTile& simt = planned.clusters[0].simt;
  made.tile.divisions[y] = {simt.threads, simt.vector, simt.reduce_threads};
  GpuTileEvaluator evaluator(tiles, part, spec, kThreadsOnly);
  TW_ASSERT_OK_AND_ASSIGN(const GpuTilePlan padded,
                          evaluator.AsGenerated(made));
  made.tile.row_padding.erase(w);
  TW_ASSERT_OK_AND_ASSIGN(const GpuTilePlan plain, evaluator.AsGenerated(made));
  const auto conflicts = [&](const GpuTilePlan& plan) {
    for (const SharedOperand& operand : plan.shared)
      if (operand.tensor == w) return operand.conflicts;
    return 0.0;
  };
  EXPECT_EQ(conflicts(padded), conflicts(planned));
  EXPECT_GT(conflicts(plain), conflicts(padded));
  EXPECT_GT(plain.cost.shared_bytes, padded.cost.shared_bytes);
}

class GpuTilePlansTest : public testing::Test {
 protected:
  GpuTilePlansTest() {
    PlanOptions options;
    options.channel_block = 0;
    plan_ = MakePlan(graph_, options);
    options_.use = kThreadsOnly;
  }

  const TensorGraph graph_ = Matmul(1024, 512, 768);
  const DeviceSpec spec_ = *LoadSpec("a100");
  Plan plan_;
  GpuTilingOptions options_;
};

// As planned, but for what is refused.
GenerateBlock Generator(absl::Status (*admit)(const BlockTile&), int* asked) {
  return
      [=](const Group& group, const Plan&) -> absl::StatusOr<GeneratedBlock> {
        ++*asked;
        const BlockTile& wished = *group.tile_plan.block;
        if (const absl::Status status = admit(wished); !status.ok())
          return status;
        GeneratedBlock block;
        block.tile = wished;
        block.threads = wished.num_threads();
        return block;
      };
}

TEST_F(GpuTilePlansTest, ARefusedTileMakesRoomForTheNext) {
  GpuTilePlans all(graph_, plan_, spec_, options_);
  TW_ASSERT_OK_AND_ASSIGN(const auto planned, all.Of(plan_.groups[0]));
  ASSERT_GT(planned.size(), 1u);
  static BlockTile* const first = new BlockTile;
  *first = *planned[0].block;
  int asked = 0;
  GpuTilePlans some(graph_, plan_, spec_, options_,
                    Generator(
                        [](const BlockTile& wished) {
                          return wished.tile == first->tile &&
                                         wished.threads == first->threads
                                     ? absl::InternalError("not this one")
                                     : absl::OkStatus();
                        },
                        &asked));
  TW_ASSERT_OK_AND_ASSIGN(const auto made, some.Of(plan_.groups[0]));
  EXPECT_TRUE(made[0].generated);
  EXPECT_THAT(made[0].differences, Not(IsEmpty()));
  EXPECT_GT(asked, 1);
  EXPECT_FALSE(some.RefusedBlock(plan_.groups[0]).has_value());
}

TEST_F(GpuTilePlansTest, SeveralThreadsFindTheSame) {
  const GenerateBlock generate = [](const Group& group, const Plan&) {
    GeneratedBlock block;
    block.tile = *group.tile_plan.block;
    block.threads = block.tile.num_threads();
    return block;
  };
  GpuTilePlans alone(graph_, plan_, spec_, options_, generate),
      together(graph_, plan_, spec_, options_, generate, 3);
  together.Prepare(plan_.groups);
  TW_ASSERT_OK_AND_ASSIGN(const auto want, alone.Of(plan_.groups[0]));
  TW_ASSERT_OK_AND_ASSIGN(const auto got, together.Of(plan_.groups[0]));
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(ToString(graph_, got[i]), ToString(graph_, want[i]));
    EXPECT_TRUE(got[i].generated);
  }
}

TEST_F(GpuTilePlansTest, WhatWasMadeAheadCountsOnceSomebodyAsks) {
  GpuTilePlans any(graph_, plan_, spec_, options_);
  TW_ASSERT_OK_AND_ASSIGN(const auto planned, any.Planned(plan_.groups[0]));
  ASSERT_GT(planned.size(), 2u);
  for (const int threads : {1, 2}) {
    std::atomic<int> made = 0;
    GpuTilePlans plans(
        graph_, plan_, spec_, options_,
        [&](const Group& group, const Plan&) -> absl::StatusOr<GeneratedBlock> {
          ++made;
          const BlockTile& wished = *group.tile_plan.block;
          if (wished.ToString() == planned[0].block->ToString() &&
              wished.tile == planned[0].tile)
            return absl::InternalError("not the first");
          GeneratedBlock block;
          block.tile = wished;
          block.threads = wished.num_threads();
          return block;
        },
        threads);
    Group group = plan_.groups[0];
    group.tile_plan.block = planned[0].block;
    EXPECT_THAT(plans.Generated(group),
                StatusIs(absl::StatusCode::kInternal, "not the first"));
    EXPECT_EQ(made, threads);
    EXPECT_FALSE(plans.BestSoFar(plan_.groups[0])->generated);
    group.tile_plan.block = planned[1].block;
    TW_EXPECT_OK(plans.Generated(group).status());
    EXPECT_EQ(made, 2);
    EXPECT_TRUE(plans.BestSoFar(plan_.groups[0])->generated);
  }
}

TEST_F(GpuTilePlansTest, AGroupWithoutAScheduleSaysWhy) {
  int asked = 0;
  GpuTilePlans none(
      graph_, plan_, spec_, options_,
      Generator([](const BlockTile&) { return absl::InternalError("never"); },
                &asked));
  EXPECT_THAT(none.Of(plan_.groups[0]),
              StatusIs(absl::StatusCode::kInternal, "never"));
  const std::optional<BlockTile> refused = none.RefusedBlock(plan_.groups[0]);
  ASSERT_TRUE(refused.has_value());
  EXPECT_FALSE(refused->tile.empty());
}

int64_t Elements(const BlockTile& block) {
  int64_t all = 1;
  for (const int64_t extent : block.tile) all *= extent;
  return all;
}

// Kernels that need more registers than was planned are refused; if all are,
// tiles of threads with fewer elements are looked for.
TEST_F(GpuTilePlansTest, TilesThatAllNeedTooManyRegistersMakeRoomForSmaller) {
  constexpr int64_t kElements = 16;  // of a thread, at most
  const auto elements = [](const BlockTile& wished) {
    return Elements(wished) / wished.num_threads();
  };
  GpuTilePlans any(graph_, plan_, spec_, options_);
  TW_ASSERT_OK_AND_ASSIGN(const auto planned, any.Of(plan_.groups[0]));
  for (const GpuTilePlan& plan : planned)
    ASSERT_GT(elements(*plan.block), kElements);
  GpuTilePlans small(
      graph_, plan_, spec_, options_,
      [&](const Group& group, const Plan&) -> absl::StatusOr<GeneratedBlock> {
        GeneratedBlock block;
        block.tile = *group.tile_plan.block;
        block.threads = block.tile.num_threads();
        if (elements(block.tile) > kElements)
          block.live_registers = spec_.unit().registers_per_thread() + 1;
        return block;
      });
  TW_ASSERT_OK_AND_ASSIGN(const auto made, small.Of(plan_.groups[0]));
  EXPECT_LE(elements(*made[0].block), kElements);
  // Found once.
  TW_ASSERT_OK_AND_ASSIGN(const auto again, small.Of(plan_.groups[0]));
  EXPECT_EQ(again[0].tile, made[0].tile);
}

TEST_F(GpuTilePlansTest, TilesThatAllNeedTooMuchOfAScratchpadDoSoToo) {
  GpuTilePlans any(graph_, plan_, spec_, options_);
  TW_ASSERT_OK_AND_ASSIGN(const auto planned, any.Of(plan_.groups[0]));
  int64_t least = planned[0].shared_bytes;
  for (const GpuTilePlan& plan : planned)
    least = std::min(least, plan.shared_bytes);
  // A scratchpad that such tiles just fit into, and kernels that take more.
  DeviceSpec small = spec_;
  small.mutable_unit()->set_scratchpad_bytes_per_block(least);
  int asked = 0;
  GpuTilePlans plans(
      graph_, plan_, small, options_,
      Generator(
          [](const BlockTile& wished) {
            constexpr int64_t kElements = 64 * 64;  // of a block, at most
            return Elements(wished) > kElements
                       ? absl::ResourceExhaustedError("no room for so many")
                       : absl::OkStatus();
          },
          &asked));
  TW_ASSERT_OK_AND_ASSIGN(const auto made, plans.Of(plan_.groups[0]));
  EXPECT_FALSE(made.empty());
}

// Where blocks are alone on their cores, on a device whose waits are known.
TEST_F(GpuTilePlansTest, WhatCannotLoadAheadIsAskedForWithoutThat) {
  DeviceSpec alone = *LoadSpec("h100");
  alone.mutable_unit()->set_max_blocks_per_core(1);
  const auto stages_of = [](const std::vector<GpuTilePlan>& plans) {
    std::set<int64_t> stages;
    for (const GpuTilePlan& one : plans) stages.insert(one.block->stages);
    return stages;
  };
  GpuTilePlans any(graph_, plan_, alone, options_);
  TW_ASSERT_OK_AND_ASSIGN(const auto planned, any.Of(plan_.groups[0]));
  ASSERT_THAT(stages_of(planned), Contains(2));
  int asked = 0;
  GpuTilePlans plans(graph_, plan_, alone, options_,
                     Generator(
                         [](const BlockTile& wished) {
                           return wished.stages > 1
                                      ? absl::UnimplementedError("not ahead")
                                      : absl::OkStatus();
                         },
                         &asked));
  TW_ASSERT_OK_AND_ASSIGN(const auto made, plans.Of(plan_.groups[0]));
  EXPECT_THAT(stages_of(made), ElementsAre(1));
  EXPECT_GT(asked, static_cast<int>(made.size()));
  // Found again by what was decided in the end.
  Group group = plan_.groups[0];
  group.tile_plan.block = made[0].block;
  TW_EXPECT_OK(plans.Generated(group).status());
}

}  // namespace
}  // namespace tilewright
