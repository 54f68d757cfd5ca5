#include "tilegraph/gpu/planned_block.h"

#include <optional>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/gpu/gpu_tile_evaluator.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/gpu/gpu_tiling.h"
#include "tilegraph/plan/block_tile.h"
#include "tilegraph/testing/test_graphs.h"
#include "tilegraph/text/text_form.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Of all computes of a graph in one kernel.
std::vector<GpuTilePlan> PlansOf(const TensorGraph& graph,
                                 const DeviceSpec& spec,
                                 const GpuFeatures& use) {
  std::vector<TensorId> members;
  for (const Tensor& tensor : graph.tensors())
    if (tensor.kind == TensorKind::kCompute) members.push_back(tensor.id);
  const TileGraph tiles(graph, members);
  GpuTilingOptions options;
  options.use = use;
  const auto plans =
      TileForGpu(tiles, tiles.SubgraphOf(members), spec, options);
  TW_EXPECT_OK(plans.status());
  return plans.ok() ? *plans : std::vector<GpuTilePlan>();
}

TEST(PlannedBlockTest, ThePlansDecisionsAreTheWishes) {
  const TensorGraph graph = Products(1024, 256, {"A = X W"}, "A");
  const DeviceSpec spec = *LoadSpec("v100");
  const std::vector<GpuTilePlan> plans = PlansOf(graph, spec, kThreadsOnly);
  ASSERT_FALSE(plans.empty());
  GpuTilePlan plan = plans.front();
  ASSERT_EQ(plan.clusters.size(), 1u);
  const std::optional<BlockTile> block = PlannedBlock(plan);
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(block->tile, plan.tile);
  EXPECT_EQ(block->threads, plan.clusters[0].simt.threads);
  EXPECT_EQ(block->vector, plan.clusters[0].simt.vector);
  EXPECT_EQ(block->lanes, plan.clusters[0].simt.reduce_threads);
  EXPECT_EQ(block->step, plan.step);
  EXPECT_LE(block->num_threads(), plan.threads);

  // Rows along the last dimension are padded; those of several are not.
  ASSERT_EQ(plan.shared.size(), 2u);
  plan.shared[0].layout.pad_elements = 3;
  plan.shared[0].row_dims = 1;
  plan.shared[1].layout.pad_elements = 3;
  plan.shared[1].row_dims = 2;
  EXPECT_THAT(PlannedBlock(plan)->row_padding,
              ElementsAre(Pair(plan.shared[0].tensor, 3)));
  // A warp of 64 is two of 32.
  plan.clusters[0].simt.reduce_threads = 64;
  EXPECT_EQ(PlannedBlock(plan)->lanes, 32);
}

TEST(PlannedBlockTest, ThreadsAreThoseOfTheOutput) {
  const TensorGraph graph = MatmulSoftmax(512, 64, 128);
  const DeviceSpec spec = *LoadSpec("h100");
  const std::vector<GpuTilePlan> plans = PlansOf(graph, spec, kThreadsOnly);
  ASSERT_FALSE(plans.empty());
  const GpuTilePlan& plan = plans.front();
  ASSERT_GT(plan.clusters.size(), 1u);
  const auto cluster = static_cast<size_t>(plan.members.members.back().cluster);
  EXPECT_EQ(PlannedBlock(plan)->threads, plan.clusters[cluster].simt.threads);
}

TEST(PlannedBlockTest, WhatThreadsCannotIsNotPlannedForThem) {
  const TensorGraph graph = *ParseText(R"(
    X: f16[512, 512] = placeholder
    W: f16[512, 512] = placeholder
    Y: f16[512, 512] = compute (m: 512, n: 512) reduce (k: 512) sum:f32 {
      cast:f32(X[m, k]) * cast:f32(W[k, n]) }
    return Y)");
  const DeviceSpec spec = *LoadSpec("a100");
  for (const GpuTilePlan& plan : PlansOf(graph, spec, kThreadsOnly)) {
    EXPECT_TRUE(PlannedBlock(plan).has_value());
    EXPECT_EQ(plan.order.panel, 0);
    for (const SharedOperand& operand : plan.shared) {
      EXPECT_EQ(operand.copies, 1);
      EXPECT_FALSE(operand.layout.swizzled());
    }
  }
  bool matrix = false;
  for (const GpuTilePlan& plan : PlansOf(graph, spec, {}))
    matrix |= !PlannedBlock(plan).has_value();
  EXPECT_TRUE(matrix);
}

// A plan of 8 steps, of which each thread loads 64 elements.
GpuTilePlan InSteps() {
  GpuTilePlan plan;
  plan.threads = 128;
  plan.grid = {128};
  plan.step = 32;
  plan.registers_per_thread = 100;
  plan.occupancy.blocks_per_core = 2;
  plan.cost.steps = 8;
  plan.cost.wait_seconds = 1e-6;
  plan.members.inputs = {{0, true, 2}, {1, true, 2}};
  for (const TensorId tensor : {0, 1, 2}) {  // 2: what the block computes
    SharedOperand& operand = plan.shared.emplace_back();
    operand.tensor = tensor;
    operand.bytes = 128 * 32 * 4;
    plan.shared_bytes += operand.bytes;
  }
  return plan;
}

BlockTile Ahead(const GpuTilePlan& plan) {
  BlockTile block;
  block.step = plan.step;
  LoadAhead(plan, LoadSpec("h100")->unit(), block);
  return block;
}

TEST(LoadAheadTest, WhereThreadsHaveRegistersForTheNextStep) {
  const GpuTilePlan plan = InSteps();
  EXPECT_EQ(Ahead(plan).stages, 2);
  EXPECT_EQ(Ahead(plan).step, 32);

  GpuTilePlan large = plan;
  large.registers_per_thread = 255 - 32;
  EXPECT_EQ(Ahead(large).stages, 2);
  EXPECT_EQ(Ahead(large).step, 16);
  large.registers_per_thread = 255 - 31;  // a step of 8 would be too short
  EXPECT_EQ(Ahead(large).stages, 1);
  EXPECT_EQ(Ahead(large).step, 32);
}

// Products of 128 x 128 by 128 threads, two blocks a core.
TEST(LoadAheadTest, BlocksBesideEachOtherHaveTwoBuffersForSquares) {
  GpuTilePlan plan = InSteps();
  plan.grid = {2 * 132};
  plan.registers_per_thread = 200;
  plan.part.outputs = {3};
  GpuMember& product = plan.members.members.emplace_back();
  product.id = 3;
  product.loads = {{0, {}, /*dims=*/1}, {1, {}, /*dims=*/2}};
  plan.members.clusters = {{0, {0}}};
  BlockTile squares;
  squares.tile = {128, 128};
  squares.threads = {16, 8};
  squares.vector = 4;
  squares.step = plan.step;
  const ComputeUnit unit = LoadSpec("h100")->unit();
  const auto ahead = [&] {
    BlockTile block = squares;
    LoadAhead(plan, unit, block);
    return block;
  };
  EXPECT_EQ(ahead().rows, 4);
  EXPECT_EQ(ahead().stages, 3);
  EXPECT_EQ(ahead().buffers(), 2);
  EXPECT_EQ(ahead().step, 8);
  // 16 elements of a step of 8 are loaded ahead.
  plan.registers_per_thread = 255 - 15;
  EXPECT_EQ(ahead().rows, 4);
  EXPECT_EQ(ahead().stages, 1);
  plan.registers_per_thread = 200;
  squares.threads = {64, 2};  // two rows of a thread
  EXPECT_EQ(ahead().rows, 1);
  EXPECT_EQ(ahead().stages, 1);
  squares.threads = {16, 8};
  plan.grid = {128};
  plan.registers_per_thread = 190;
  EXPECT_EQ(ahead().rows, 4);
  EXPECT_EQ(ahead().stages, 2);
  EXPECT_EQ(ahead().step, 32);
  // A convolution's image has both dimensions.
  plan.members.members[0].loads[0].dims = 3;
  EXPECT_EQ(ahead().rows, 1);
}

TEST(LoadAheadTest, NotBesideAnotherBlockNorWhereNothingWaits) {
  GpuTilePlan plan = InSteps();
  plan.grid = {2 * 132};
  EXPECT_EQ(Ahead(plan).stages, 1);
  plan.occupancy.blocks_per_core = 1;  // one after the other
  EXPECT_EQ(Ahead(plan).stages, 2);
  plan.cost.steps = 1;
  EXPECT_EQ(Ahead(plan).stages, 1);
  plan.cost.steps = 8;
  plan.cost.wait_seconds = 0;  // nobody knows
  EXPECT_EQ(Ahead(plan).stages, 1);
}

}  // namespace
}  // namespace tilewright
