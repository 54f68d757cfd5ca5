#include "sketch/rules/default_schedule.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/ir/layout.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The schedule's text, once it has replayed.
std::string ScheduleText(const Workload& workload) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  const absl::StatusOr<Schedule> schedule = DefaultSchedule(workload, spec);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  if (!schedule.ok()) return "";
  const absl::StatusOr<BlockTree> tree = Replay(workload, *schedule);
  EXPECT_TRUE(tree.ok()) << tree.status() << "\n" << schedule->ToString();
  return schedule->ToString();
}

std::string ScheduleText(std::string_view graph_text,
                         std::map<std::string, Layout> layouts = {}) {
  absl::StatusOr<TensorGraph> graph = ParseText(graph_text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return "";
  Workload workload{*std::move(graph), {}};
  for (auto& [name, layout] : layouts)
    workload.layouts[*workload.graph.Find(name)] = layout;
  return ScheduleText(workload);
}

// An embedding of positions is packed as the image that it is added to lies;
// what has one value for each channel is read in order as it is.
TEST(DefaultScheduleTest, ConstantsOfMapsLieAsResultsDo) {
  const std::string graph = R"(
    i0: f32[1, 32, 8, 8] = placeholder
    c0: f32[32, 8, 8] = placeholder
    c1: f32[32] = placeholder
    t0: f32[1, 32, 8, 8] = compute (d0: 1, d1: 32, d2: 8, d3: 8) { i0[d0, d1, d2, d3] * c1[d1] + c0[d1, d2, d3] }
    return t0
#constant c0
#constant c1
)";
  const std::string layout = "(1, 32, 8, 8) [d0, d1/16, d2, d3, d1%16]\n";
  const std::string blocked = ScheduleText(*ParseWorkload(
      absl::StrCat(graph, "#layout i0 ", layout, "#layout t0 ", layout)));
  EXPECT_THAT(blocked, HasSubstr("set_layout \"c0 (32, 8, 8) [d0/16, d1, d2, "
                                 "d0%16]\""));
  EXPECT_THAT(blocked, Not(HasSubstr("set_layout \"c1")));
  EXPECT_THAT(ScheduleText(*ParseWorkload(graph)),
              Not(HasSubstr("set_layout")));
}

TEST(DefaultScheduleTest, AnEpilogueReadsTheAccumulatorsFromRegisters) {
  const std::string text = ScheduleText(R"(
      A: f32[64, 32] = placeholder
      B: f32[32, 48] = placeholder
      b: f32[48] = placeholder
      T: f32[64, 48] = compute (m: 64, n: 48) reduce (k: 32) sum:f32 { A[m, k] * B[k, n] }
      U: f32[64, 48] = compute (m: 64, n: 48) { T[m, n] + b[n] }
      Y: f32[64, 48] = compute (m: 64, n: 48) { max(U[m, n], 0) }
      return Y
  )");
  EXPECT_THAT(text, HasSubstr("compute_inline"));
  EXPECT_THAT(text, HasSubstr("compute_at"));
  EXPECT_THAT(text, HasSubstr("registers"));
}

TEST(DefaultScheduleTest, AMapBeforeTheReductionGoesIntoItsLoads) {
  const std::string text = ScheduleText(R"(
      A: f32[64, 32] = placeholder
      s: f32[32] = placeholder
      B: f32[32, 50] = placeholder
      P: f32[64, 32] = compute (m: 64, k: 32) { max(A[m, k] * s[k], 0) }
      T: f32[64, 50] = compute (m: 64, n: 50) reduce (k: 32) sum:f32 { P[m, k] * B[k, n] }
      Y: f32[64, 50] = compute (m: 64, n: 50) { exp(T[m, n]) }
      return Y
  )");
  EXPECT_THAT(text, HasSubstr("compute_inline"));
  EXPECT_THAT(text, HasSubstr("compute_at"));
}

TEST(DefaultScheduleTest, TwoProductsAreRefused) {
  const absl::StatusOr<TensorGraph> graph = ParseText(R"(
      A: f32[4, 3] = placeholder
      B: f32[3, 3] = placeholder
      T: f32[4, 3] = compute (m: 4, n: 3) reduce (k: 3) sum:f32 { A[m, k] * B[k, n] }
      U: f32[4, 3] = compute (m: 4, n: 3) reduce (k: 3) sum:f32 { T[m, k] * B[k, n] }
      return U
  )");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(
      DefaultSchedule({*graph, {}}, *LoadSpec("cpu_x86_64_v4")).status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(DefaultScheduleTest, AReductionAloneIsCopiedOutOfRegisters) {
  const std::string text = ScheduleText(R"(
      A: f32[64, 32] = placeholder
      B: f32[32, 50] = placeholder
      T: f32[64, 50] = compute (m: 64, n: 50) reduce (k: 32) sum:f32 { A[m, k] * B[k, n] }
      return T
  )");
  EXPECT_THAT(text, HasSubstr("cache_write"));
}

TEST(DefaultScheduleTest, BlockedConvolutionsReduceByBlocks) {
  const Layout image = Layout::BlockedLast({1, 32, 16, 16}, 1, 16);
  const std::string text = ScheduleText(
      R"(
      X: f32[1, 32, 16, 16] = placeholder
      W: f32[32, 32, 3, 3] = placeholder
      T: f32[1, 32, 14, 14] = compute (n: 1, o: 32, h: 14, w: 14) reduce (c: 32, i: 3, j: 3) sum:f32 { X[n, c, h + i, w + j] * W[o, c, i, j] }
      Y: f32[1, 32, 14, 14] = compute (n: 1, o: 32, h: 14, w: 14) { max(T[n, o, h, w], 0) }
      return Y
  )",
      {{"X", image}, {"Y", Layout::BlockedLast({1, 32, 14, 14}, 1, 16)}});
  EXPECT_THAT(text, HasSubstr("by [2, 16]"));
}

// A convolution of rate 12 over 20 x 20: its taps begin and end at columns 8
// and
// 12. Tiles of four columns leave out whole taps, a block has the terms that
// are left, and its filters stay in the cache for many tiles.
TEST(DefaultScheduleTest, TilesOfAtrousConvolutionsEndWhereTheirTapsDo) {
  Workload workload = HaloConvRelu(480, 64, 20, 20, 3, 1, 12, 12, 12);
  for (const char* name : {"X", "Y"}) {
    const TensorId id = *workload.graph.Find(name);
    workload.layouts[id] =
        Layout::BlockedLast(workload.graph.tensor(id).static_shape(), 1, 16);
  }
  const std::string text = ScheduleText(workload);
  for (const char* decision :
       {"tile = vectors 4, rows 4", "edges = rows+columns",
        "reduce.block = 6\n", "task.rows = 3\n"})
    EXPECT_THAT(text, HasSubstr(decision));
}

// Vectors of pixels: rows of a tile are channels, which use them again; rows of
// the image would each load their own.
TEST(DefaultScheduleTest, RowsShareTheVectorsThatAreLoaded) {
  const std::string text = ScheduleText(R"(
      X: f32[1, 32, 16, 64] = placeholder
      W: f32[8, 32] = placeholder
      T: f32[1, 8, 16, 64] = compute (n: 1, o: 8, h: 16, w: 64) reduce (c: 32) sum:f32 { X[n, c, h, w] * W[o, c] }
      Y: f32[1, 8, 16, 64] = compute (n: 1, o: 8, h: 16, w: 64) { max(T[n, o, h, w], 0) }
      return Y
  )");
  EXPECT_THAT(text, HasSubstr("by [1, 1] [2, 4] [16, 1]"));
}

TEST(DefaultScheduleTest, LongSumsAreAddedUpBlockByBlock) {
  const std::string gemm = ScheduleText(R"(
      A: f32[49, 1024] = placeholder
      B: f32[1024, 50] = placeholder
      T: f32[49, 50] = compute (m: 49, n: 50) reduce (k: 1024) sum:f32 { A[m, k] * B[k, n] }
      return T
  )");
  EXPECT_THAT(gemm, HasSubstr("by [2, 512]"));
  EXPECT_THAT(gemm, HasSubstr("rfactor"));
  const std::string convolution = ScheduleText(
      R"(
      X: f32[1, 128, 9, 9] = placeholder
      W: f32[24, 128, 3, 3] = placeholder
      T: f32[1, 24, 7, 7] = compute (n: 1, o: 24, h: 7, w: 7) reduce (c: 128, i: 3, j: 3) sum:f32 { X[n, c, h + i, w + j] * W[o, c, i, j] }
      Y: f32[1, 24, 7, 7] = compute (n: 1, o: 24, h: 7, w: 7) { max(T[n, o, h, w], 0) }
      return Y
  )",
      {{"X", Layout::BlockedLast({1, 128, 9, 9}, 1, 16)},
       {"Y", Layout::BlockedLast({1, 24, 7, 7}, 1, 16)}});
  EXPECT_THAT(convolution, HasSubstr("by [2, 4, 16]"));
  EXPECT_THAT(convolution, HasSubstr("rfactor"));
}

// The sums of all blocks are f32, whatever the result is and what follows.
TEST(DefaultScheduleTest, LongSumsOfHalvesAreCutToo) {
  for (const char* end : {"return T\n",
                          "Y: f16[24, 40] = compute (m: 24, n: 40) "
                          "{ max(T[m, n], 0) }\nreturn Y\n"}) {
    const std::string text = ScheduleText(absl::StrCat(
        "A: f16[24, 1024] = placeholder\nB: f16[1024, 40] = placeholder\n"
        "T: f16[24, 40] = compute (m: 24, n: 40) reduce (k: 1024) sum:f32 "
        "{ cast:f32(A[m, k]) * cast:f32(B[k, n]) }\n",
        end));
    EXPECT_THAT(text, HasSubstr("rfactor"));
    EXPECT_THAT(text, HasSubstr("T.acc order 0,1"));
  }
}

TEST(DefaultScheduleTest, EveryKindOfSmallGroupReplays) {
  const char* graphs[] = {
      "X: f32[7] = placeholder\nY: f32[7] = compute (i: 7) { exp(X[i]) "
      "}\nreturn Y\n",
      "X: f32[3, 5] = placeholder\nY: f32[3] = compute (i: 3) reduce (k: 5) "
      "max:f32 { X[i, k] }\nreturn Y\n",
      "X: f32[5] = placeholder\nY: f32[] = compute () reduce (k: 5) sum:f32 { "
      "X[k] }\nreturn Y\n",
      "X: f32[3, 5] = placeholder\nY: i64[3] = compute (i: 3) reduce (k: 5) "
      "argmax:f32 { X[i, k], k } result 1\nreturn Y\n",
      "X: f16[3, 5] = placeholder\nY: f16[3] = compute (i: 3) reduce (k: 5) "
      "sum:f32 { cast:f32(X[i, k]) }\nreturn Y\n",
      "X: f32[1, 1] = placeholder\nY: f32[1, 1] = compute (i: 1, j: 1) { X[i, "
      "j] }\nreturn Y\n",
      "X: f32[2, 3, 33, 17] = placeholder\nY: f32[2, 33, 3, 17] = compute (a: "
      "2, b: 33, c: 3, d: 17) { X[a, c, b, d] }\nreturn Y\n",
  };
  for (const char* graph : graphs) ScheduleText(graph);
}

// The output's buffer if the answer to "stream" is `answer`; nothing if nobody
// asks.
std::optional<Buffer> StreamedOutput(const std::string& graph,
                                     const std::string& answer) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  const Workload workload{*ParseText(graph), {}};
  PreferredPolicy rest;
  TablePolicy policy({{"stream", answer}}, rest);
  Decider decider(policy);
  const absl::StatusOr<Schedule> schedule =
      Generate(Generators(workload).front(), workload, spec, decider);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_THAT(policy.Rounded(), IsEmpty());
  if (!schedule.ok() || !policy.Unused().empty()) return std::nullopt;
  const absl::StatusOr<BlockTree> tree = Replay(workload, *schedule);
  EXPECT_TRUE(tree.ok()) << tree.status() << "\n" << schedule->ToString();
  if (!tree.ok()) return std::nullopt;
  EXPECT_THAT(CheckTree(*tree, workload, 7), IsOk());
  for (const Buffer& buffer : tree->buffers) {
    if (buffer.name == "Y") return buffer;
  }
  return std::nullopt;
}

TEST(DefaultScheduleTest, StoresOfLargeOutputsStreamWhereDecided) {
  const std::string families[] = {
      "X: f32[160, 128] = placeholder\nY: f32[160, 128] = compute (i: 160, j: "
      "128) { max(X[i, j], 0) }\nreturn Y\n",
      "X: f32[128, 160] = placeholder\nY: f32[160, 128] = compute (i: 160, j: "
      "128) { X[j, i] }\nreturn Y\n",
      "A: f32[160, 8] = placeholder\nB: f32[8, 128] = placeholder\n"
      "Y: f32[160, 128] = compute (i: 160, j: 128) reduce (k: 8) sum:f32 { "
      "A[i, "
      "k] * B[k, j] }\nreturn Y\n",
      "X: f32[160, 128] = placeholder\nM: f32[160] = compute (i: 160) reduce "
      "(k: 128) max:f32 { X[i, k] }\nY: f32[160, 128] = compute (i: 160, j: "
      "128) { X[i, j] - M[i] }\nreturn Y\n",
  };
  for (const std::string& family : families) {
    const auto yes = StreamedOutput(family, "yes");
    ASSERT_TRUE(yes.has_value()) << family;
    EXPECT_EQ(yes->streamed, true) << family;
    EXPECT_EQ(StreamedOutput(family, "no")->streamed, false) << family;
    EXPECT_EQ(StreamedOutput(family, "auto")->streamed, std::nullopt) << family;
  }
}

TEST(DefaultScheduleTest, StoresThatTheInnermostCacheHoldsAreNotAskedFor) {
  EXPECT_EQ(StreamedOutput("X: f32[16, 128] = placeholder\nY: f32[16, 128] = "
                           "compute (i: 16, j: 128) { max(X[i, j], 0) }\n"
                           "return Y\n",
                           "yes"),
            std::nullopt);
}

}  // namespace
}  // namespace tilewright::sketch
