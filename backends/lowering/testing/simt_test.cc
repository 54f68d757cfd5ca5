// Groups of every family under the schedules of the generator "simt": right in
// both tiers, without races, with the threads that their block tile says.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/testing/simt_case.h"
#include "backends/lowering/vectorize/gpu_thread.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/rules/generator.h"
#include "sketch/simt/block_tile.h"
#include "sketch/testing/norm_workloads.h"
#include "sketch/testing/row_workloads.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/expr/op.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::ScalarKernel;
using sketch::BlockTile;

struct Ran {
  RandomCase drawn;
  ScalarKernel scalar;
  LegalizeReport report;
  std::vector<std::string> results;  // bytes of the arguments behind it
};

// Through both tiers; the same bits in both, and races looked for.
absl::StatusOr<Ran> RunBoth(absl::StatusOr<RandomCase> drawn) {
  Ran ran;
  TW_ASSIGN_OR_RETURN(ran.drawn, std::move(drawn));
  std::vector<std::string> want = ran.drawn.args;
  TW_RETURN_IF_ERROR(
      InterpretTileKernel(ran.drawn.kernel, absl::MakeSpan(want)));
  TW_RETURN_IF_ERROR(CheckResults(ran.drawn, want));
  VectorTarget target;
  target.vector_bytes = 16;
  target.fma = false;
  TW_ASSIGN_OR_RETURN(ran.scalar,
                      Legalize(ran.drawn.kernel, target, &ran.report));
  std::vector<std::string> got = ran.drawn.args;
  absl::Status status = InterpretScalarKernel(ran.scalar, absl::MakeSpan(got),
                                              0, ran.scalar.num_tasks);
  if (status.ok() && ran.report.lane_reductions > 0) {
    status = CheckResults(ran.drawn, got);
  } else if (status.ok() && got != want) {
    status = absl::InternalError("other bits than the tile tier's");
  }
  if (status.ok()) {
    ran.results = std::move(got);
    return ran;
  }
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "\n", ran.drawn.ToString(),
                                   ran.scalar.ToString()));
}

bool SharesScratch(const ScalarKernel& kernel) {
  return kernel.scratch_bytes > 0;
}
bool Holds(const ScalarKernel& kernel, const std::string& text) {
  return kernel.ToString().find(text) != std::string::npos;
}

// What the loops with multiply-adds consist of, as threads of a GPU get it.
struct SumLoops {
  std::map<int, int> shared_loads;  // of scratch that a block shares, by lanes
  int branches = 0;
  int masked = 0;
  int maxima = 0;
};

bool MultipliesAndAdds(const std::vector<kernel_ir::Inst>& body) {
  return std::any_of(body.begin(), body.end(), [](const kernel_ir::Inst& inst) {
    const auto* loop = std::get_if<kernel_ir::ForInst>(&inst.node);
    return std::holds_alternative<kernel_ir::FmaInst>(inst.node) ||
           (loop != nullptr && MultipliesAndAdds(loop->body));
  });
}

void Count(const ScalarKernel& kernel, const std::vector<kernel_ir::Inst>& body,
           bool sums, SumLoops& all) {
  for (const kernel_ir::Inst& inst : body) {
    if (const auto* loop = std::get_if<kernel_ir::ForInst>(&inst.node)) {
      const bool holds_loops = std::any_of(
          loop->body.begin(), loop->body.end(), [](const kernel_ir::Inst& i) {
            return std::holds_alternative<kernel_ir::ForInst>(i.node);
          });
      Count(kernel, loop->body, !holds_loops && MultipliesAndAdds(loop->body),
            all);
    } else if (const auto* branch =
                   std::get_if<kernel_ir::IfInst>(&inst.node)) {
      all.branches += sums;
      Count(kernel, branch->then_body, sums, all);
      Count(kernel, branch->else_body, sums, all);
    } else if (const auto* load =
                   std::get_if<kernel_ir::LoadInst>(&inst.node)) {
      const kernel_ir::ScalarBuffer& buffer = kernel.buffers[load->buffer];
      if (!sums || buffer.scratch_offset_bytes < 0) continue;
      ++all.shared_loads[kernel.regs[load->dst].lanes];
      all.masked += load->mask != kernel_ir::kNoReg;
    }
  }
}

absl::StatusOr<SumLoops> SumLoopsOf(const Ran& ran) {
  TW_ASSIGN_OR_RETURN(const ScalarKernel kernel,
                      LegalizeForGpuThread(ran.drawn.kernel));
  SumLoops all;
  Count(kernel, kernel.body, false, all);
  return all;
}

TEST(SimtTest, ProductsShareOperandsStepByStep) {
  BlockTile tile = TileOf({32, 32}, {8, 4}, 4, 8);
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran ran, RunBoth(SimtCase(sketch::GemmRelu(64, 96, 40), tile, 1)));
  EXPECT_EQ(ran.drawn.kernel.num_tasks(), 2 * 3);
  EXPECT_EQ(ran.scalar.threads, 32);
  // A step of both operands, 32 x 8 and 8 x 32, and nothing else.
  EXPECT_EQ(ran.scalar.scratch_bytes, 2 * 32 * 8 * 4);
  for (const kernel_ir::ScalarBuffer& b : ran.scalar.buffers)
    EXPECT_FALSE(b.per_thread) << b.name;
  EXPECT_TRUE(Holds(ran.scalar, "barrier"));
}

// Rows of the left operand along the terms, of the right one along the vectors
// of the output.
TEST(SimtTest, ProductsLoadVectorsOfBothOperands) {
  BlockTile tile = TileOf({32, 32}, {8, 4}, 4, 8);
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran ran, RunBoth(SimtCase(sketch::GemmRelu(64, 96, 40), tile, 1)));
  TW_ASSERT_OK_AND_ASSIGN(const SumLoops loops, SumLoopsOf(ran));
  ASSERT_EQ(loops.shared_loads.size(), 1u);
  // Of four terms each time: four rows of the one, two vectors of each of the
  // other's.
  EXPECT_EQ(loops.shared_loads.at(4), 2 * (4 + 4 * 2));
}

// Rows of the right operand along the terms: neighbours of a vector of the
// output are rows apart, and are copied beside each other.
TEST(SimtTest, TransposedOperandsAreCopiedAlongTheVectors) {
  TW_ASSERT_OK_AND_ASSIGN(sketch::Workload workload, sketch::ParseWorkload(R"(
A: f32[32, 64] = placeholder
B: f32[96, 64] = placeholder
C: f32[32, 96] = compute (m: 32, n: 96) reduce (k: 64) sum:f32 { A[m, k] * B[n, k] }
return C
)"));
  BlockTile tile = TileOf({32, 32}, {8, 4}, 4, 8);
  TW_ASSERT_OK_AND_ASSIGN(const Ran ran,
                          RunBoth(SimtCase(std::move(workload), tile, 1)));
  const Answers answers = sketch::AnswersOf(ran.drawn.schedule);
  EXPECT_EQ(answers.at("block.order.C.A"), "rows");
  EXPECT_EQ(answers.at("block.order.C.B"), "threads");
  bool found = false;
  for (const kernel_ir::Buffer& buffer : ran.drawn.kernel.buffers) {
    if (buffer.name.rfind("B.local", 0) != 0) continue;
    found = true;
    EXPECT_EQ(buffer.layout.ToString(), "(32, 8) [d1, d0]");
  }
  EXPECT_TRUE(found);
  TW_ASSERT_OK_AND_ASSIGN(const SumLoops loops, SumLoopsOf(ran));
  EXPECT_EQ(loops.shared_loads.size(), 1u);
  EXPECT_EQ(loops.shared_loads.at(4), 2 * (4 + 4 * 2));
}

// A step of the left operand lies with its terms outermost then: four of a
// thread's rows are one load.
TEST(SimtTest, RowsSideBySideAreLoadedTogether) {
  sketch::Workload workload = sketch::GemmRelu(64, 96, 40);
  BlockTile tile = TileOf({32, 32}, {4, 4}, 4, 8);
  TW_ASSERT_OK_AND_ASSIGN(const Ran apart,
                          RunBoth(SimtCase(workload, tile, 1)));
  tile.rows = 4;
  TW_ASSERT_OK_AND_ASSIGN(const Ran ran, RunBoth(SimtCase(workload, tile, 1)));
  EXPECT_EQ(ran.results, apart.results);
  const Answers answers = sketch::AnswersOf(ran.drawn.schedule);
  std::map<std::string, int> orders;
  for (const auto& [name, answer] : answers)
    if (name.rfind("block.order.", 0) == 0) ++orders[answer];
  EXPECT_EQ(orders, (std::map<std::string, int>{{"rows", 1}, {"threads", 1}}));
  TW_ASSERT_OK_AND_ASSIGN(const SumLoops loops, SumLoopsOf(ran));
  ASSERT_EQ(loops.shared_loads.size(), 1u);
  // Of eight terms: eight rows and eight columns of each.
  EXPECT_EQ(loops.shared_loads.at(4), 8 * (2 + 2));
  EXPECT_EQ(loops.branches, 0);
}

// Filters that a thread computes lie side by side; a row of the window is
// loaded once.
TEST(SimtTest, ConvolutionsLoadVectorsOfBothOperands) {
  BlockTile tile = TileOf({1, 16, 4, 16}, {1, 4, 4, 4}, 4, 2);
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran ran,
      RunBoth(SimtCase(sketch::ConvPadRelu(4, 16, 12, 32, 3, 1, 1), tile, 1)));
  TW_ASSERT_OK_AND_ASSIGN(const SumLoops loops, SumLoopsOf(ran));
  EXPECT_EQ(loops.shared_loads.count(1), 0u);
  // Nine terms: four filters of each, of three rows six elements each.
  EXPECT_EQ(loops.shared_loads.at(4), 9 + 3);
  EXPECT_EQ(loops.shared_loads.at(2), 3);
}

// Filters are copied by threads along channels, which load vectors of what lies
// behind those, or by threads along the filters' rows.
TEST(SimtTest, ThreadsCopyFiltersEitherWay) {
  BlockTile tile = TileOf({1, 16, 4, 16}, {1, 4, 4, 4}, 4, 4);
  const auto run = [&](const Answers& answers) {
    return RunBoth(SimtCase(sketch::ConvPadRelu(8, 16, 12, 32, 3, 1, 1), tile,
                            1, answers));
  };
  TW_ASSERT_OK_AND_ASSIGN(const Ran along_copy, run({}));
  Answers answers;
  for (const auto& [name, answer] :
       sketch::AnswersOf(along_copy.drawn.schedule)) {
    if (name.rfind("block.copy.", 0) != 0) continue;
    EXPECT_EQ(answer, "along_copy");
    answers[name] = "along_source";
  }
  ASSERT_EQ(answers.size(), 1u);
  TW_ASSERT_OK_AND_ASSIGN(const Ran along_source, run(answers));
  EXPECT_EQ(along_copy.results, along_source.results);
  for (const Ran* ran : {&along_copy, &along_source}) {
    TW_ASSERT_OK_AND_ASSIGN(const ScalarKernel kernel,
                            LegalizeForGpuThread(ran->drawn.kernel));
    EXPECT_EQ(Holds(kernel, "f32x4 = load W#"), ran == &along_copy)
        << kernel.ToString();
  }
}

// 24 columns and rows, of which the last threads have one less than the first.
TEST(SimtTest, SumsAtTheEdgeOfATileAreNotGuarded) {
  BlockTile tile = TileOf({24, 24}, {16, 4}, 4, 16);
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran ran, RunBoth(SimtCase(sketch::GemmRelu(48, 72, 64), tile, 1)));
  TW_ASSERT_OK_AND_ASSIGN(const SumLoops loops, SumLoopsOf(ran));
  EXPECT_EQ(loops.branches, 0);
  EXPECT_EQ(loops.masked, 0);
  EXPECT_EQ(loops.shared_loads.size(), 1u);
  EXPECT_EQ(loops.shared_loads.count(4), 1u);
}

// Of an operand in memory, and of what the group computes.
TEST(SimtTest, MapsThatSumsReadAgainAreComputedOnce) {
  TW_ASSERT_OK_AND_ASSIGN(sketch::Workload workload, sketch::ParseWorkload(R"(
A: f32[32, 64] = placeholder
B: f32[64, 32] = placeholder
C: f32[32, 32] = placeholder
P: f32[32, 64] = compute (m: 32, k: 64) { max(A[m, k], 0.0) }
S: f32[32, 32] = compute (m: 32, n: 32) reduce (k: 64) sum:f32 { P[m, k] * B[k, n] }
Q: f32[32, 32] = compute (m: 32, n: 32) { max(S[m, n], 0.0) }
T: f32[32, 32] = compute (m: 32, n: 32) reduce (k: 32) sum:f32 { Q[m, k] * C[k, n] }
return T
)"));
  BlockTile tile = TileOf({16, 32}, {4, 4}, 4, 16);
  TW_ASSERT_OK_AND_ASSIGN(const Ran ran,
                          RunBoth(SimtCase(std::move(workload), tile, 1)));
  TW_ASSERT_OK_AND_ASSIGN(SumLoops loops, SumLoopsOf(ran));
  EXPECT_TRUE(Holds(ran.scalar, "max"));
  EXPECT_EQ(loops.maxima, 0);
  EXPECT_GT(loops.shared_loads[4], 0);
}

// Threads of each slice sum their part of a step's terms, with as wide loads,
// and all threads add the slices up, which scratch holds beside the operands.
TEST(SimtTest, SlicesOfAStepHaveThreadsOfTheirOwn) {
  BlockTile tile = TileOf({32, 32}, {8, 4}, 4, 32);
  tile.slices = 4;
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran ran, RunBoth(SimtCase(sketch::GemmRelu(64, 96, 128), tile, 1)));
  EXPECT_EQ(ran.scalar.threads, 4 * 32);
  EXPECT_EQ(ran.scalar.scratch_bytes, (4 * 32 * 32 + 2 * 32 * 32) * 4);
  for (const kernel_ir::ScalarBuffer& b : ran.scalar.buffers)
    EXPECT_FALSE(b.per_thread) << b.name;
  TW_ASSERT_OK_AND_ASSIGN(const SumLoops loops, SumLoopsOf(ran));
  EXPECT_EQ(loops.shared_loads.size(), 1u);
  EXPECT_EQ(loops.shared_loads.at(4), 2 * (4 + 4 * 2));
  EXPECT_EQ(loops.branches, 0);
  EXPECT_EQ(
      ran.drawn.schedule.tile_plan->block->divisions.begin()->second.slices, 4);
}

TEST(SimtTest, SlicesOfChannelsSumWindows) {
  BlockTile tile = TileOf({1, 16, 4, 16}, {1, 4, 4, 4}, 4, 8);
  tile.slices = 2;
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran ran,
      RunBoth(SimtCase(sketch::ConvPadRelu(16, 16, 12, 32, 3, 1, 1), tile, 1)));
  EXPECT_EQ(ran.scalar.threads, 2 * 64);
  TW_ASSERT_OK_AND_ASSIGN(const SumLoops loops, SumLoopsOf(ran));
  EXPECT_EQ(loops.shared_loads.count(1), 0u);
  EXPECT_EQ(loops.shared_loads.at(4), 9 + 3);
  EXPECT_EQ(loops.branches, 0);
}

// The sum of the slices leaves the group itself, and is stored once.
TEST(SimtTest, SumsOfSlicesAreStoredOnce) {
  TW_ASSERT_OK_AND_ASSIGN(sketch::Workload workload, sketch::ParseWorkload(R"(
A: f32[28, 64] = placeholder
B: f32[64, 96] = placeholder
C: f32[28, 96] = compute (m: 28, n: 96) reduce (k: 64) sum:f32 { A[m, k] * B[k, n] }
return C
)"));
  BlockTile tile = TileOf({28, 32}, {4, 4}, 4, 16);
  tile.slices = 4;
  TW_ASSERT_OK_AND_ASSIGN(const Ran ran,
                          RunBoth(SimtCase(std::move(workload), tile, 1)));
  EXPECT_EQ(ran.scalar.threads, 4 * 16);
  EXPECT_FALSE(Holds(ran.scalar, "load C#")) << ran.scalar.ToString();
}

// 40 terms make no whole steps of 16: there is one slice, of all threads.
TEST(SimtTest, UnevenStepsAreNotCutIntoSlices) {
  BlockTile tile = TileOf({16, 16}, {4, 4}, 4, 16);
  tile.slices = 2;
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran ran, RunBoth(SimtCase(sketch::GemmRelu(64, 96, 40), tile, 1)));
  EXPECT_EQ(ran.scalar.threads, 32);
  EXPECT_EQ(
      ran.drawn.schedule.tile_plan->block->divisions.begin()->second.slices, 1);
}

TEST(SimtTest, TailsOfProductsAreGuarded) {
  BlockTile tile = TileOf({16, 24}, {4, 8}, 1, 5);
  TW_ASSERT_OK(
      RunBoth(SimtCase(sketch::GemmRelu(33, 50, 23), tile, 2)).status());
}

// Operands of the next step wait in registers: no more scratch, no more
// barriers, the same bits.
TEST(SimtTest, StagesLoadAStepAhead) {
  BlockTile tile = TileOf({32, 32}, {8, 4}, 4, 8);
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran one, RunBoth(SimtCase(sketch::GemmRelu(64, 96, 44), tile, 1)));
  tile.stages = 2;
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran two, RunBoth(SimtCase(sketch::GemmRelu(64, 96, 44), tile, 1)));
  EXPECT_EQ(one.report.copies_ahead, 0);
  EXPECT_EQ(two.report.copies_ahead, 2);
  EXPECT_EQ(two.scalar.scratch_bytes, one.scalar.scratch_bytes);
  for (const kernel_ir::ScalarBuffer& b : two.scalar.buffers)
    EXPECT_FALSE(b.per_thread) << b.name;
}

int64_t Count(const ScalarKernel& kernel, const std::string& what) {
  const std::string text = kernel.ToString();
  int64_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++count;
  return count;
}

// As many steps' operands as there are buffers in scratch, one barrier a step:
// the loop of steps and the last one, which is no whole one.
TEST(SimtTest, BuffersHoldStepsThatAreOnTheirWay) {
  BlockTile tile = TileOf({32, 32}, {8, 4}, 4, 8);
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran one, RunBoth(SimtCase(sketch::GemmRelu(64, 96, 48), tile, 1)));
  EXPECT_EQ(Count(one.scalar, "barrier"), 2);
  for (tile.stages = 2; tile.stages <= 4; ++tile.stages) {
    tile.async = true;
    TW_ASSERT_OK_AND_ASSIGN(
        const Ran ran,
        RunBoth(SimtCase(sketch::GemmRelu(64, 96, 48), tile, 1)));
    EXPECT_EQ(ran.report.copies_ahead, 2);
    EXPECT_EQ(ran.scalar.scratch_bytes, tile.stages * one.scalar.scratch_bytes);
    EXPECT_EQ(Count(ran.scalar, "barrier"), 1) << ran.scalar.ToString();
    EXPECT_EQ(Count(ran.scalar, "wait"), 1);
    EXPECT_EQ(Count(ran.scalar, "commit"), 2);
    EXPECT_GE(Count(ran.scalar, "copy x4"), 4);
    EXPECT_EQ(ran.results, one.results);
    for (const kernel_ir::ScalarBuffer& b : ran.scalar.buffers)
      EXPECT_FALSE(b.per_thread) << b.name;
  }
}

// In registers and two buffers: scratch as for these, a barrier a step, and
// threads store what they have loaded behind its sums.
TEST(SimtTest, StagesInRegistersHaveBuffersBesideThem) {
  BlockTile tile = TileOf({32, 32}, {8, 4}, 4, 8);
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran one, RunBoth(SimtCase(sketch::GemmRelu(64, 96, 48), tile, 1)));
  for (tile.stages = 3; tile.stages <= 4; ++tile.stages) {
    TW_ASSERT_OK_AND_ASSIGN(
        const Ran ran,
        RunBoth(SimtCase(sketch::GemmRelu(64, 96, 48), tile, 1)));
    EXPECT_EQ(ran.report.copies_ahead, 2);
    EXPECT_EQ(ran.scalar.scratch_bytes,
              (tile.stages - 1) * one.scalar.scratch_bytes);
    EXPECT_EQ(Count(ran.scalar, "barrier"), 1) << ran.scalar.ToString();
    EXPECT_EQ(Count(ran.scalar, "wait"), 0);
    EXPECT_EQ(Count(ran.scalar, "copy x"), 0);
    EXPECT_EQ(ran.results, one.results);
  }
}

// No more buffers than steps.
TEST(SimtTest, FewStepsTakeFewBuffers) {
  BlockTile tile = TileOf({16, 16}, {4, 4}, 1, 8);
  tile.stages = 4;
  tile.async = true;
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran ran, RunBoth(SimtCase(sketch::GemmRelu(16, 16, 16), tile, 1)));
  EXPECT_EQ(ran.scalar.scratch_bytes, 2 * 2 * 16 * 8 * 4);
}

TEST(SimtTest, SwizzlesMoveChunksWithinRows) {
  BlockTile tile = TileOf({32, 32}, {8, 4}, 4, 16);
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran plain,
      RunBoth(SimtCase(sketch::GemmRelu(64, 96, 48), tile, 1)));
  tile.swizzle = 4;
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran moved,
      RunBoth(SimtCase(sketch::GemmRelu(64, 96, 48), tile, 1)));
  EXPECT_FALSE(Holds(plain.scalar, "xor"));
  EXPECT_TRUE(Holds(moved.scalar, "xor"));
  EXPECT_EQ(moved.scalar.scratch_bytes, plain.scalar.scratch_bytes);
}

// Zeros come into scratch with the operand: sums need no guard and stay in
// registers. So they do asynchronously.
TEST(SimtTest, PaddedOperandsAreCopiedWithTheirZeros) {
  BlockTile tile = TileOf({1, 8, 4, 8}, {1, 4, 2, 4}, 1, 2);
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran ran,
      RunBoth(SimtCase(sketch::ConvPadRelu(4, 16, 10, 13, 3, 1, 1), tile, 1)));
  // A step of both operands, each from a multiple of 64 bytes on: 2 x (4 + 2) x
  // (8 + 2) and 8 x 2 x 3 x 3 elements.
  EXPECT_EQ(ran.scalar.scratch_bytes, 512 + 8 * 2 * 3 * 3 * 4);
  for (const kernel_ir::ScalarBuffer& b : ran.scalar.buffers)
    EXPECT_FALSE(b.per_thread) << b.name;
  tile.stages = 2;
  tile.async = true;
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran async,
      RunBoth(SimtCase(sketch::ConvPadRelu(4, 16, 10, 13, 3, 1, 1), tile, 1)));
  EXPECT_GE(async.report.copies_ahead, 2);
  EXPECT_TRUE(Holds(async.scalar, " mask "));
  EXPECT_EQ(async.results, ran.results);
}

TEST(SimtTest, LanesCombineRows) {
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran ran,
      RunBoth(SimtCase(sketch::Softmax(6, 70), std::nullopt, 3)));
  EXPECT_GE(ran.scalar.threads, 32);
  TW_ASSERT_OK(
      RunBoth(SimtCase(sketch::LayerNorm(5, 96), std::nullopt, 4)).status());
  BlockTile row;
  row.tile = {2};
  row.threads = {2};
  row.lanes = 32;
  TW_ASSERT_OK_AND_ASSIGN(const Ran sums,
                          RunBoth(SimtCase(sketch::HalfSum(7, 100), row, 5)));
  EXPECT_TRUE(Holds(sums.scalar, "exchange"));
}

TEST(SimtTest, ElementwiseGroupsHaveNoBarriers) {
  TW_ASSERT_OK_AND_ASSIGN(
      const Ran ran,
      RunBoth(SimtCase(sketch::TwoOutputs(20, 36), std::nullopt, 6)));
  EXPECT_FALSE(Holds(ran.scalar, "barrier"));
  EXPECT_FALSE(SharesScratch(ran.scalar));
}

TEST(SimtTest, DrawnGroupsInDrawnTiles) {
  std::map<std::string, int> refused, ran;
  int ahead = 0, async = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    for (const char* const family : kSimtFamilies) {
      const absl::StatusOr<Ran> result = RunBoth(DrawSimtCase(family, seed));
      const absl::StatusCode code = result.status().code();
      if (code == absl::StatusCode::kInvalidArgument ||
          code == absl::StatusCode::kUnimplemented) {
        ++refused[family];
        std::cout << family << " " << seed << ": "
                  << std::string(result.status().message()).substr(0, 160)
                  << "\n";
        continue;
      }
      ++ran[family];
      ASSERT_TRUE(result.ok())
          << family << ", seed " << seed << ": " << result.status();
      ahead += result->report.copies_ahead > 0;
      async += Holds(result->scalar, "copy x");
    }
  }
  std::cout << ahead << " with copies ahead of their step, " << async
            << " asynchronous\n";
  EXPECT_GT(async, 3);
  for (const auto& [family, count] : ran) {
    std::cout << family << ": " << count << " ran, " << refused[family]
              << " refused\n";
    EXPECT_GT(count, 4 * refused[family]) << family;
  }
}

// Products and convolutions of any extents, in any tiles: buffers in scratch
// change no bit of what one stage gives.
TEST(SimtTest, DrawnProductsInDrawnBuffers) {
  int async = 0, swizzled = 0, ahead = 0;
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    Random random(seed);
    const auto extent = [&] { return random.UniformInt(3, 33); };
    const bool product = random.Bernoulli(0.7);
    const sketch::Workload workload =
        product ? sketch::GemmRelu(extent(), extent(), extent())
                : sketch::ConvPadRelu(random.UniformInt(2, 9), 4, 5,
                                      extent() / 2, 3, 1, 1);
    BlockTile tile;
    for (const Dim& dim :
         workload.graph.tensor(workload.graph.outputs()[0]).shape) {
      tile.tile.push_back(
          std::min<int64_t>(dim.value(), random.UniformInt(1, 16)));
      tile.threads.push_back(int64_t{1} << random.Index(3));
    }
    tile.vector = int64_t{1} << random.Index(3);
    tile.step = random.UniformInt(1, 8);
    tile.swizzle = int64_t{1} << random.Index(4);
    const absl::StatusOr<Ran> one = RunBoth(SimtCase(workload, tile, seed));
    TW_ASSERT_OK(one.status()) << seed;
    tile.stages = random.UniformInt(2, 4);
    tile.async = random.Bernoulli(0.5);
    const absl::StatusOr<Ran> ran = RunBoth(SimtCase(workload, tile, seed));
    TW_ASSERT_OK(ran.status()) << seed;
    EXPECT_EQ(ran->results, one->results) << seed;
    ahead += !tile.async && tile.stages > 2 && ran->report.copies_ahead > 0;
    async += Holds(ran->scalar, "copy x");
    swizzled += Holds(ran->scalar, "copy x") && Holds(ran->scalar, "xor");
  }
  std::cout << async << " with asynchronous copies, " << swizzled
            << " of them swizzled, " << ahead << " in registers and buffers\n";
  EXPECT_GT(ahead, 10);
  EXPECT_GT(async, 20);
  EXPECT_GT(swizzled, 0);
}

// Whatever is decided, or else the generator says what it cannot express.
TEST(SimtTest, DrawnSketchesOfAnsorsRules) {
  std::map<std::string, int> refused;
  int ran = 0, shared = 0, lanes = 0, all_refused = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const absl::StatusOr<Ran> result = RunBoth(DrawGpuSketchCase(seed));
    if (absl::IsInvalidArgument(result.status()) ||
        absl::IsUnimplemented(result.status())) {
      ++refused[std::string(result.status().message()).substr(0, 60)];
      ++all_refused;
      continue;
    }
    ASSERT_TRUE(result.ok()) << "seed " << seed << ": " << result.status();
    ++ran;
    shared += SharesScratch(result->scalar);
    lanes += Holds(result->scalar, "exchange");
  }
  std::cout << ran << " ran, " << shared << " with scratch, " << lanes
            << " with lanes\n";
  for (const auto& [why, count] : refused)
    std::cout << count << " refused: " << why << "\n";
  EXPECT_GT(ran, all_refused);
  EXPECT_GT(shared, 0);
  EXPECT_GT(lanes, 0);
}

}  // namespace
}  // namespace tilewright::lowering
