#include "tilegraph/gpu/gpu_tiling.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/gpu/gpu_subgraphs.h"
#include "tilegraph/gpu/gpu_tile_evaluator.h"
#include "tilegraph/gpu/shared_rows.h"
#include "tilegraph/testing/random_graph.h"
#include "tilegraph/testing/test_graphs.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kMiB = 1024 * 1024;

// A graph as one part.
struct Whole {
  explicit Whole(TensorGraph of)
      : graph(std::move(of)), tiles(graph, Members(graph)) {
    part = tiles.SubgraphOf(Members(graph));
  }
  static std::vector<TensorId> Members(const TensorGraph& graph) {
    std::vector<TensorId> members;
    for (const Tensor& tensor : graph.tensors())
      if (tensor.kind == TensorKind::kCompute) members.push_back(tensor.id);
    return members;
  }
  const TensorGraph graph;
  const TileGraph tiles;
  Subgraph part;
};

TEST(GpuTileEvaluatorTest, WeldersTrafficOfMatmulAndSoftmaxOnV100) {
  const DeviceSpec spec = *LoadSpec("v100");
  const Whole whole(MatmulSoftmax(98304, 64, 128));
  GpuTileEvaluator evaluator(whole.tiles, whole.part, spec);
  // [4, 128]: 1 KiB of A, 32 KiB of B, 2 KiB of results, 24,576 times.
  TW_ASSERT_OK_AND_ASSIGN(const auto small, evaluator.Evaluate({{4, 128}}));
  ASSERT_TRUE(small);
  EXPECT_EQ(small->blocks(), 24576);
  EXPECT_EQ(small->cost.near_bytes, 840 * kMiB);
  // [16, 128]: 44 KiB, 6,144 times.
  TW_ASSERT_OK_AND_ASSIGN(const auto large, evaluator.Evaluate({{16, 128}}));
  ASSERT_TRUE(large);
  EXPECT_EQ(large->cost.near_bytes, 264 * kMiB);
  // B stays in the L2: A and the results once, B once.
  EXPECT_EQ(large->cost.memory_bytes, 24 * kMiB + 48 * kMiB + 32 * 1024);
  // Scratchpad: A, B and the product's tile at the same time: 4 + 32 + 8 KiB;
  // what the softmax needs later takes the place of A and B.
  EXPECT_EQ(large->shared_bytes, 44 * 1024);
  EXPECT_EQ(large->occupancy.blocks_per_core, 2);
  EXPECT_EQ(Name(large->occupancy.limit), "scratchpad");
  // 80 * 2 blocks at a time.
  EXPECT_EQ(large->cost.waves, 39);
  // The search does at least as well as the paper's tile.
  TW_ASSERT_OK_AND_ASSIGN(const auto aligned, evaluator.Align({{16, 128}}));
  TW_ASSERT_OK_AND_ASSIGN(const auto plans,
                          TileForGpu(whole.tiles, whole.part, spec, {}));
  EXPECT_LE(plans[0].cost.seconds, aligned->cost.seconds);
}

TEST(GpuTileEvaluatorTest, StepsAndBuffersByHand) {
  const DeviceSpec spec = *LoadSpec("a100");
  const Whole whole(Matmul(1024, 512, 1024));
  GpuTileEvaluator evaluator(whole.tiles, whole.part, spec);
  // [128, 64] in steps of 16: A 128 * 16, B 16 * 64 f32, each twice.
  TW_ASSERT_OK_AND_ASSIGN(const auto plan,
                          evaluator.Evaluate({{128, 64}, 16, 256, true}));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->shared_bytes, 2 * (128 * 16 + 16 * 64) * 4);
  EXPECT_THAT(plan->grid, ElementsAre(8, 16));
  // 32 by 8 threads of 4 by 8: 32 sums, 12 operands and the base.
  EXPECT_THAT(plan->clusters[0].simt.elements, ElementsAre(4, 8));
  EXPECT_EQ(plan->registers_per_thread, 24 + 32 + 12);
  EXPECT_EQ(plan->cost.operations, 2.0 * 1024 * 512 * 1024);
  // A block loads (128 + 64) * 512 f32.
  const double near_bytes = plan->cost.near_bytes;
  EXPECT_EQ(near_bytes, 128 * 192 * 512 * 4 + 1024 * 1024 * 4);
  // Through the banks: 12 operands for 32 products, and what is staged.
  EXPECT_EQ(plan->cost.shared_bytes,
            128.0 * (256 * 12 * 512 * 4 + 192 * 512 * 4));
  // Steps of 4 elements would take sectors twice: 16 bytes of 32.
  TW_ASSERT_OK_AND_ASSIGN(const auto narrow,
                          evaluator.Evaluate({{128, 64}, 4, 256, true}));
  EXPECT_EQ(narrow->cost.near_bytes - near_bytes, 128 * 128 * 512 * 4);
  // Whole rows do not fit: 192 * 512 f32.
  TW_ASSERT_OK_AND_ASSIGN(const auto all,
                          evaluator.Evaluate({{128, 64}, 0, 256}));
  EXPECT_FALSE(all);
}

TEST(GpuTileEvaluatorTest, ConflictsArePaddedOrSwizzledAway) {
  const DeviceSpec spec = *LoadSpec("a100");
  const Whole whole(*ParseText(R"(
    A: f16[512, 512] = placeholder
    B: f16[512, 512] = placeholder
    C: f32[512, 512] = compute (m: 512, n: 512) reduce (k: 512) sum:f32 {
      cast:f32(A[m, k]) * cast:f32(B[n, k]) }
    return C)"));
  GpuTileEvaluator evaluator(whole.tiles, whole.part, spec);
  TW_ASSERT_OK_AND_ASSIGN(const auto plan,
                          evaluator.Align({{128, 128}, 64, 128, true}));
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->clusters[0].matrix);
  EXPECT_EQ(plan->clusters[0].matrix->unit->name(), "mma_m16n8k16_f16");
  for (const SharedOperand& operand : plan->shared) {
    EXPECT_TRUE(operand.layout.swizzled());
    EXPECT_EQ(operand.conflicts, 1);
    EXPECT_EQ(operand.bytes, 2 * 128 * 64 * 2);
  }
  // f32 stays f32 where the unit has none.
  const Whole f32(Matmul(512, 512, 512));
  TW_ASSERT_OK_AND_ASSIGN(const auto plans,
                          TileForGpu(f32.tiles, f32.part, spec, {}));
  for (const GpuTilePlan& plan : plans) EXPECT_FALSE(plan.clusters[0].matrix);
}

// The least seconds over all tiles, steps, threads and buffers.
double LeastSeconds(const Whole& whole, const DeviceSpec& spec,
                    std::string& best) {
  GpuTileEvaluator evaluator(whole.tiles, whole.part, spec);
  std::vector<std::vector<int64_t>> tiles = {{}};
  for (const int64_t extent :
       whole.graph.tensor(whole.part.outputs[0]).static_shape()) {
    std::vector<std::vector<int64_t>> longer;
    for (const auto& tile : tiles) {
      for (int64_t size = 1; size <= extent; ++size) {
        longer.push_back(tile);
        longer.back().push_back(size);
      }
    }
    tiles = std::move(longer);
  }
  double least = std::numeric_limits<double>::infinity();
  for (const auto& tile : tiles) {
    for (const int64_t step : {0, 16, 32, 64}) {
      for (int64_t threads = spec.unit().warp_size();
           threads <= spec.unit().max_threads_per_block(); threads *= 2) {
        for (const bool twice : {false, true}) {
          const auto plan = evaluator.Evaluate({tile, step, threads, twice});
          EXPECT_TRUE(plan.ok()) << plan.status();
          if (!plan.ok() || !*plan || (*plan)->cost.seconds >= least) continue;
          least = (*plan)->cost.seconds;
          best = ToString(whole.graph, **plan);
        }
      }
    }
  }
  return least;
}

TEST(GpuTilingTest, TheSearchComesCloseToAllTiles) {
  // Launches aside, which are most of so small kernels.
  for (const char* name : {"v100", "mi210", "ipu_mk2"}) {
    DeviceSpec spec = *LoadSpec(name);
    spec.mutable_unit()->set_launch_ns(0);
    spec.mutable_unit()->set_cores(4);
    for (TensorGraph& graph :
         std::vector<TensorGraph>{Matmul(48, 96, 40), MatmulSoftmax(64, 32, 24),
                                  ConvReluPool(16, 12, 18)}) {
      const Whole whole(std::move(graph));
      TW_ASSERT_OK_AND_ASSIGN(const auto plans,
                              TileForGpu(whole.tiles, whole.part, spec, {}));
      std::string best;
      const double least = LeastSeconds(whole, spec, best);
      EXPECT_LE(plans[0].cost.seconds, 1.05 * least)
          << name << "\n"
          << ToString(whole.graph, plans[0]) << "the best:\n"
          << best;
    }
  }
}

TEST(GpuTilingTest, PlansOfRandomGraphsFitTheMachine) {
  for (const char* name :
       {"v100", "t4", "a100", "h200", "mi50", "mi300x", "ipu_mk2"}) {
    const DeviceSpec spec = *LoadSpec(name);
    const ComputeUnit& unit = spec.unit();
    for (uint64_t seed = 0; seed < 25; ++seed) {
      const Whole whole(RandomGraph(seed, {}));
      if (whole.part.outputs.size() != 1) continue;
      GpuTilingOptions options;
      options.visits = 60;
      TW_ASSERT_OK_AND_ASSIGN(
          const auto plans, TileForGpu(whole.tiles, whole.part, spec, options));
      for (const GpuTilePlan& plan : plans) {
        EXPECT_EQ(plan.threads % unit.warp_size(), 0);
        EXPECT_LE(plan.threads, unit.max_threads_per_block());
        EXPECT_LE(plan.shared_bytes, unit.scratchpad_bytes_per_block());
        EXPECT_GE(plan.occupancy.blocks_per_core, 1);
        EXPECT_LE(plan.occupancy.blocks_per_core * plan.shared_bytes,
                  unit.scratchpad_bytes_per_core());
        const std::vector<int64_t> shape =
            whole.graph.tensor(plan.part.outputs[0]).static_shape();
        for (size_t d = 0; d < shape.size(); ++d) {
          EXPECT_GE(plan.grid[d] * plan.tile[d], shape[d]);
          EXPECT_LT((plan.grid[d] - 1) * plan.tile[d], shape[d]);
        }
        // Buffers that live at the same time lie apart.
        for (const SharedOperand& operand : plan.shared) {
          EXPECT_GE(operand.offset_bytes, 0);
          EXPECT_LE(operand.offset_bytes + operand.bytes, plan.shared_bytes);
          EXPECT_GE(operand.conflicts, 1);
        }
        EXPECT_LE(plan.cost.memory_bytes, plan.cost.near_bytes * (1 + 1e-9));
        EXPECT_GT(plan.cost.seconds, unit.launch_ns() * 1e-9);
        const double longest =
            std::max({plan.cost.compute_seconds, plan.cost.shared_seconds,
                      plan.cost.near_seconds, plan.cost.memory_seconds});
        EXPECT_GE(plan.cost.seconds, longest);
      }
    }
  }
}

// Blocks load for themselves where nothing keeps what others loaded.
TEST(GpuTilingTest, WithoutACacheEverythingComesFromMemory) {
  const Whole whole(Matmul(1024, 512, 1024));
  DeviceSpec spec = *LoadSpec("v100");
  spec.mutable_levels()->erase(spec.mutable_levels()->begin() + 1);
  TW_ASSERT_OK(ValidateSpec(spec));
  TW_ASSERT_OK_AND_ASSIGN(const auto plans,
                          TileForGpu(whole.tiles, whole.part, spec, {}));
  EXPECT_EQ(plans[0].cost.memory_bytes, plans[0].cost.near_bytes);
  EXPECT_GT(plans[0].cost.memory_bytes, 8e6);
  // Then tiles are worth more: the least traffic that fits, not the best share
  // of a core.
  TW_ASSERT_OK_AND_ASSIGN(const auto cached, TileForGpu(whole.tiles, whole.part,
                                                        *LoadSpec("v100"), {}));
  EXPECT_LE(plans[0].cost.near_bytes, cached[0].cost.near_bytes);
}

// A tile's scratchpad holds its operands and sums; others' tiles have the rest.
TEST(GpuTilingTest, ScratchpadsOfAnIpuHoldSumsToo) {
  const Whole whole(Matmul(1024, 512, 1024));
  const DeviceSpec spec = *LoadSpec("ipu_mk2");
  GpuTileEvaluator evaluator(whole.tiles, whole.part, spec);
  TW_ASSERT_OK_AND_ASSIGN(const auto plan,
                          evaluator.Evaluate({{32, 32}, 0, 6}));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->shared_bytes, 2 * 32 * 512 * 4 + 32 * 32 * 4);
  // Operands and result are given: once through the DRAM, for each tile through
  // the exchange.
  EXPECT_EQ(plan->cost.memory_bytes, (2 * 1024 * 512 + 1024 * 1024) * 4);
  EXPECT_EQ(plan->cost.near_bytes, 1024 * (2 * 32 * 512 + 32 * 32) * 4);
  TW_ASSERT_OK_AND_ASSIGN(const auto large,
                          evaluator.Evaluate({{128, 512}, 0, 6}));
  EXPECT_FALSE(large);  // 1.3 MB of operands
}

// The best tiles of this one, three convolutions in one kernel, fill all 64
// KiB.
TEST(GpuTilingTest, TilesThatHaveNoRoomForPaddingKeepPlainRows) {
  for (const GpuSubgraph& subgraph : GpuSubgraphs()) {
    if (subgraph.name != "inverted residual") continue;
    const Whole whole(subgraph.graph);
    const DeviceSpec spec = *LoadSpec("mi210");
    GpuTileEvaluator evaluator(whole.tiles, whole.part, spec);
    TW_ASSERT_OK_AND_ASSIGN(const auto one, evaluator.Evaluate({{1, 1, 1}}));
    ASSERT_TRUE(one);
    TW_EXPECT_OK(TileForGpu(whole.tiles, whole.part, spec, {}).status());
  }
}

TEST(GpuTilingTest, BlocksBehindATranspositionHaveOtherIndices) {
  const Whole whole(*ParseText(R"(
    A: f32[512, 256] = placeholder
    B: f32[256, 384] = placeholder
    C: f32[512, 384] = compute (m: 512, n: 384) reduce (k: 256) sum:f32 {
      A[m, k] * B[k, n] }
    T: f32[384, 512] = compute (n: 384, m: 512) { max(C[m, n], 0.0) }
    return T)"));
  const DeviceSpec spec = *LoadSpec("a100");
  TW_ASSERT_OK_AND_ASSIGN(const auto plans,
                          TileForGpu(whole.tiles, whole.part, spec, {}));
  const GpuTilePlan& plan = plans[0];
  ASSERT_EQ(plan.remaps.size(), 2);
  ASSERT_TRUE(plan.remaps[0]);
  EXPECT_EQ(ToString(*plan.remaps[0]), "[b1, b0]");
  EXPECT_TRUE(plan.remaps[0]->partitions);
  EXPECT_THAT(plan.remaps[0]->tile, ElementsAre(plan.tile[1], plan.tile[0]));
  EXPECT_EQ(ToString(*plan.remaps[1]), "[b0, b1]");
  EXPECT_THAT(ToString(whole.graph, plan), HasSubstr("tile [b1, b0]"));
  // The product goes through the scratchpad, where the transposition reads it
  // without conflicts.
  const SharedOperand& turned = plan.shared.back();
  EXPECT_EQ(turned.tensor, *whole.graph.Find("C"));
  EXPECT_LE(turned.conflicts, 2);
}

// Compares what a warp reads at once with the elements its lanes need by
// definition.
TEST(GpuTilingTest, AccessesOfWarpsAreThoseOfTheirElements) {
  const Whole whole(Matmul(128, 64, 96));
  const DeviceSpec spec = *LoadSpec("v100");
  GpuTileEvaluator evaluator(whole.tiles, whole.part, spec);
  TW_ASSERT_OK_AND_ASSIGN(const auto plan,
                          evaluator.Evaluate({{64, 32}, 16, 128, false}));
  ASSERT_TRUE(plan);
  const ThreadTile& tile = plan->clusters[0].simt;
  for (const SharedOperand& operand : plan->shared) {
    const auto accesses = AccessesOf(whole.graph, *plan, operand, 32);
    ASSERT_EQ(accesses.size(), 1);
    const bool a = operand.tensor == *whole.graph.Find("A");
    EXPECT_THAT(operand.extents, a ? ElementsAre(64, 16) : ElementsAre(16, 32));
    // Rows of A by terms, one at a time; rows of B along the vectors of C.
    EXPECT_EQ(accesses[0].elements, a ? 1 : tile.vector);
    for (int64_t lane = 0; lane < 32; ++lane) {
      const auto at = FirstElement(tile, {64, 32}, lane);
      ASSERT_EQ(at.size(), 2);
      const auto expected = a ? std::make_pair(at[0], int64_t{0})
                              : std::make_pair(int64_t{0}, at[1]);
      EXPECT_EQ(accesses[0].lanes[lane], expected);
    }
  }
}

TEST(GpuTilingTest, SpecsOfCpusAreRefused) {
  const Whole whole(Matmul(8, 8, 8));
  EXPECT_THAT(
      TileForGpu(whole.tiles, whole.part, *LoadSpec("cpu_x86_64_v4"), {}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("no cores with scratchpads")));
}

TEST(GpuTilingTest, SizesArePowersOfTwoDivisorsAndTheWhole) {
  EXPECT_THAT(GpuTileSizes(1), ElementsAre(1));
  EXPECT_THAT(GpuTileSizes(12), ElementsAre(1, 2, 3, 4, 6, 8, 12));
}

}  // namespace
}  // namespace tilewright
