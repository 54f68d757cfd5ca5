#include "sketch/replay/replay.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/schedule.h"
#include "sketch/tree/block_tree_verifier.h"
#include "sketch/tree/tree_edit.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;

void ExpectCorrect(const Workload& workload, ScheduleWriter writer) {
  Schedule schedule = std::move(writer).Finish();
  absl::StatusOr<BlockTree> tree = Replay(workload, schedule);
  ASSERT_THAT(tree.status(), IsOk()) << schedule.ToString();
  EXPECT_THAT(VerifyBlockTree(*tree), IsOk()) << tree->ToString();
  EXPECT_THAT(CheckTree(*tree, workload, 7), IsOk()) << tree->ToString();
}

void ExpectRefused(const Workload& workload, ScheduleWriter writer,
                   const std::string& message) {
  EXPECT_THAT(Replay(workload, std::move(writer).Finish()).status(),
              StatusIs(StatusCode::kInvalidArgument, message));
}

TEST(ReplayTest, EmptyTraceComputesEveryWorkload) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Workload workload = DrawWorkload(seed);
    TW_ASSERT_OK_AND_ASSIGN(BlockTree tree, Replay(workload, Schedule()));
    EXPECT_THAT(VerifyBlockTree(tree), IsOk()) << tree.ToString();
    EXPECT_THAT(CheckTree(tree, workload, seed), IsOk()) << tree.ToString();
  }
}

TEST(ReplayTest, GemmWithRegisterAccumulatorAndTails) {
  Workload workload = GemmRelu(60, 48, 33);
  ScheduleWriter w;
  Handle t = w.Block("T"), y = w.Block("Y");
  std::vector<Handle> tasks = w.GroupTile({y}, {Factors{8, 8}, Factors{1, 48}});
  w.ComputeAt(t, tasks[1]);
  Handle m = w.Loop(t, "m"), n = w.Loop(t, "n"), k = w.Loop(t, "k");
  std::vector<Handle> ks = w.Split(k, Factors{5, 8});
  w.Reorder({ks[0], ks[1], m, n});
  w.SetLevel(t, "registers");
  w.Annotate(m, "tile");
  w.Annotate(w.Loop(y, "m"), "tile");
  w.SetLayout(
      "B", Layout::BlockedLast(std::vector<int64_t>{33, 48}, 1, 16).ToString());
  ExpectCorrect(workload, std::move(w));
}

TEST(ReplayTest, ConvolutionComputesItsPaddedInputInTiles) {
  Workload workload = ConvPadRelu(3, 5, 9, 8, 3, 2, 1);
  ScheduleWriter w;
  Handle p = w.Block("P"), c = w.Block("C"), y = w.Block("Y");
  std::vector<Handle> tasks = w.GroupTile(
      {y}, {Factors{1, 1}, Factors{2, 3}, Factors{3, 2}, Factors{2, 2}});
  w.ComputeAt(c, tasks[3]);
  Handle ic = w.Loop(c, "ic"), oh = w.Loop(c, "oh"), oc = w.Loop(c, "oc");
  w.Reorder({ic, oh, oc});
  w.ComputeAt(p, ic);
  ExpectCorrect(workload, std::move(w));
}

// Y's convolution in tasks of five rows, in steps of `step` rows; the padded
// input at the loop over steps.
struct RowSteps {
  RowSteps(int64_t kernel, int64_t stride, int64_t step)
      : workload(ConvPadRelu(2, 3, 23, 5, kernel, stride, 1)) {
    const int64_t oh = (25 - kernel) / stride + 1,
                  ow = (7 - kernel) / stride + 1;
    const auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
    p = w.Block("P");
    c = w.Block("C");
    tasks = w.GroupTile(
        {w.Block("Y")},
        {Factors{1, 1}, Factors{1, 3}, Factors{up(oh, 5), 5}, Factors{1, ow}});
    w.ComputeAt(c, tasks[3]);
    steps = w.Split(w.Loop(c, "oh"),
                    Factors{up(std::min<int64_t>(5, oh), step), step});
    w.ComputeAt(p, steps[0]);
  }
  Workload workload;
  ScheduleWriter w;
  Handle p, c;
  std::vector<Handle> tasks, steps;
};

// Rows of the padded input that the next step needs, too, stay where they are,
// channel by channel of the output anew.
TEST(ReplayTest, RollingKeepsWhatStepsShare) {
  for (const int64_t kernel : {2, 3, 5}) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const int64_t step : {1, 2, 3}) {
        RowSteps rows(kernel, stride, step);
        rows.w.Rolling(rows.p, rows.steps[0]);
        if (kernel <= stride) {
          ExpectRefused(rows.workload, std::move(rows.w),
                        "do not overlap in steps");
          continue;
        }
        const Schedule schedule = ScheduleWriter(rows.w).Finish();
        TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree,
                                Replay(rows.workload, schedule));
        EXPECT_THAT(
            tree.ToString(),
            HasSubstr(absl::StrCat("[d0, d1, d2%", (step - 1) * stride + kernel,
                                   ", d3]")));
        ExpectCorrect(rows.workload, std::move(rows.w));
      }
    }
  }
}

// Loops of the rolling block may be cut, put in order and hold what feeds it.
TEST(ReplayTest, RollingBlocksAreScheduledLikeOthers) {
  RowSteps rows(3, 1, 2);
  ScheduleWriter& w = rows.w;
  w.Rolling(rows.p, rows.steps[0]);
  const std::vector<Handle> h = w.Split(w.Loop(rows.p, "h"), Factors{2, 3});
  const Handle c = w.Loop(rows.p, "c"), x = w.Loop(rows.p, "w");
  w.Reorder({h[1], c, h[0], x});
  w.SetLevel(rows.c, "registers");
  w.Annotate(x, "tile");
  ExpectCorrect(rows.workload, std::move(w));
}

TEST(ReplayTest, RollingIsRefusedWhereStepsLeaveGaps) {
  const auto refused = [](const std::string& message, const auto& change) {
    RowSteps rows(3, 1, 2);
    change(rows, rows.w);
    ExpectRefused(rows.workload, std::move(rows.w), message);
  };
  refused("is not serial", [](RowSteps& rows, ScheduleWriter& w) {
    w.Rolling(rows.p, rows.tasks[2]);
  });
  refused("is not around P", [](RowSteps& rows, ScheduleWriter& w) {
    w.Rolling(rows.p, rows.steps[1]);
  });
  refused("does not move with loop", [](RowSteps& rows, ScheduleWriter& w) {
    const Handle channels = w.Loop(rows.c, "oc");
    w.ComputeAt(rows.p, channels);
    w.Rolling(rows.p, channels);
  });
  refused("rolls already", [](RowSteps& rows, ScheduleWriter& w) {
    w.Rolling(rows.p, rows.steps[0]);
    w.Rolling(rows.p, rows.steps[0]);
  });
  refused("rolls where it is", [](RowSteps& rows, ScheduleWriter& w) {
    w.Rolling(rows.p, rows.steps[0]);
    w.ComputeAt(rows.p, rows.tasks[3]);
  });
  refused("no longer around it", [](RowSteps& rows, ScheduleWriter& w) {
    w.Rolling(rows.p, rows.steps[0]);
    w.Split(rows.steps[0], Factors{2, 2});
  });
  refused("does not keep its region", [](RowSteps& rows, ScheduleWriter& w) {
    w.Rolling(rows.p, rows.steps[0]);
    w.SetLevel(rows.p, "registers");
  });
}

TEST(ReplayTest, RollingBuffersThatForgetAreFaults) {
  RowSteps rows(3, 1, 2);
  rows.w.Rolling(rows.p, rows.steps[0]);
  TW_ASSERT_OK_AND_ASSIGN(BlockTree tree,
                          Replay(rows.workload, std::move(rows.w).Finish()));
  Block* p = nullptr;
  ForEachBlock(tree.roots, [&](Block& block) {
    if (block.name == "P") p = &block;
  });
  Buffer& buffer = tree.buffers[p->dst[0]];
  const Layout layout = buffer.layout;
  std::vector<int64_t> shape = layout.shape();
  const int64_t all = std::exchange(shape[2], 3);
  buffer.layout = Layout::RowMajor(shape).Rolling(2, all);
  EXPECT_THAT(VerifyBlockTree(tree),
              StatusIs(StatusCode::kInternal, "does not keep its region"));
  buffer.layout = layout;
  p->rolling->from = p->rolling->from + Expr::Int(1);
  EXPECT_THAT(
      VerifyBlockTree(tree),
      StatusIs(StatusCode::kInternal, "more than the one before has computed"));
}

TEST(ReplayTest, PaddingIsInlined) {
  for (int64_t pad : {0, 1, 2}) {
    Workload workload = MaxPool(5, 9, 8, 3, 2, pad);
    ScheduleWriter w;
    Handle p = w.Block("P"), m = w.Block("M"), y = w.Block("Y");
    w.ComputeInline(p);
    int64_t oh = (9 + 2 * pad - 3) / 2 + 1, ow = (8 + 2 * pad - 3) / 2 + 1;
    std::vector<Handle> tasks = w.GroupTile(
        {y}, {Factors{1, 1}, Factors{1, 5}, Factors{oh, 1}, Factors{1, ow}});
    w.ComputeAt(m, tasks[3]);
    ExpectCorrect(workload, std::move(w));
  }
}

TEST(ReplayTest, CacheWriteCopiesOutOnceAndTakesTheEpilogue) {
  Workload workload = GemmRelu(13, 17, 8);
  ScheduleWriter w;
  Handle t = w.Block("T"), y = w.Block("Y");
  std::vector<Handle> tasks = w.GroupTile({y}, {Factors{3, 5}, Factors{2, 16}});
  w.ComputeAt(t, tasks[1]);
  w.Reorder({w.Loop(t, "k"), w.Loop(t, "m"), w.Loop(t, "n")});
  w.CacheWrite(t, "registers");
  w.ReverseComputeInline(y);
  Schedule schedule = std::move(w).Finish();
  TW_ASSERT_OK_AND_ASSIGN(BlockTree tree, Replay(workload, schedule));
  EXPECT_THAT(tree.ToString(), Not(HasSubstr("\n    Y ")));
  EXPECT_THAT(VerifyBlockTree(tree), IsOk()) << tree.ToString();
  EXPECT_THAT(CheckTree(tree, workload, 3), IsOk()) << tree.ToString();
}

// Partial results in the lanes of vectors, joined once per row.
TEST(ReplayTest, RFactorSplitsARowIntoLanes) {
  for (int64_t columns : {16, 5, 64, 67}) {
    Workload workload = Softmax(3, columns);
    ScheduleWriter w;
    Handle m = w.Block("M"), e = w.Block("E"), s = w.Block("S"),
           y = w.Block("Y");
    std::vector<Handle> tasks =
        w.GroupTile({y}, {Factors{2, 2}, Factors{1, columns}});
    Handle row = w.Loop(y, "r");
    (void)tasks;
    w.ComputeAt(s, row);
    w.ComputeAt(e, row);
    w.ComputeAt(m, row);
    for (Handle block : {m, s}) {
      std::vector<Handle> parts =
          w.Split(w.Loop(block, "k"), Factors{(columns + 15) / 16, 16});
      Handle partial = w.RFactor(block, parts[1]);
      w.SetLevel(partial, "registers");
      w.SetLevel(block, "registers");
      w.Annotate(parts[1], "tile");
    }
    ExpectCorrect(workload, std::move(w));
  }
}

// A block of K at a time: its products are summed in registers, then added.
TEST(ReplayTest, RFactorBlocksTheReductionOfAGemm) {
  Workload workload = GemmRelu(13, 17, 33);
  ScheduleWriter w;
  Handle t = w.Block("T"), y = w.Block("Y");
  std::vector<Handle> tasks = w.GroupTile({y}, {Factors{3, 5}, Factors{2, 16}});
  w.ComputeAt(t, tasks[1]);
  std::vector<Handle> k = w.Split(w.Loop(t, "k"), Factors{3, 12});
  w.Reorder({k[0], w.Loop(t, "m"), w.Loop(t, "n"), k[1]});
  Handle partial = w.RFactor(t, k[0]);
  Handle outer = w.Loop(t, "k.0"), m = w.Loop(t, "m"), n = w.Loop(t, "n");
  std::vector<Handle> rows = w.Split(m, Factors{2, 3});
  w.Reorder({outer, rows[0], rows[1], n});
  w.ComputeAt(partial, rows[0]);
  w.Reorder({w.Loop(partial, "k.1"), w.Loop(partial, "m")});
  w.SetLevel(partial, "registers");
  w.Annotate(rows[1], "tile");
  w.Annotate(w.Loop(partial, "m"), "tile");
  ExpectCorrect(workload, std::move(w));
}

TEST(ReplayTest, RFactorOfTuplesAndOfOneLoopAmongSeveral) {
  Workload arg_max = ArgMax(5, 17);
  ScheduleWriter a;
  Handle i = a.Block("I");
  std::vector<Handle> parts = a.Split(a.Loop(i, "k"), Factors{3, 6});
  a.RFactor(i, parts[1]);
  ExpectCorrect(arg_max, std::move(a));

  Workload conv = ConvPadRelu(5, 3, 7, 6, 3, 1, 1);
  ScheduleWriter c;
  Handle sum = c.Block("C");
  Handle partial = c.RFactor(sum, c.Loop(sum, "ic"));
  c.Reorder({c.Loop(partial, "kh"), c.Loop(partial, "ic")});
  c.RFactor(partial, c.Loop(partial, "kh"));
  ExpectCorrect(conv, std::move(c));
}

TEST(ReplayTest, RFactorRefusesWhatIsNoPartOfAReduction) {
  Workload workload = GemmRelu(13, 17, 8);
  ScheduleWriter only;
  Handle t = only.Block("T");
  only.RFactor(t, only.Loop(t, "k"));
  ExpectRefused(workload, std::move(only),
                "loop k is the only one that reduces T");
  ScheduleWriter spatial;
  t = spatial.Block("T");
  spatial.RFactor(t, spatial.Loop(t, "m"));
  ExpectRefused(workload, std::move(spatial), "loop m does not reduce T");
  ScheduleWriter map;
  t = map.Block("Y");
  map.RFactor(t, map.Loop(t, "m"));
  ExpectRefused(workload, std::move(map), "Y is no reduction");
}

TEST(ReplayTest, CacheReadPacksAPanel) {
  Workload workload = GemmRelu(13, 17, 8);
  ScheduleWriter w;
  Handle t = w.Block("T"), y = w.Block("Y");
  std::vector<Handle> tasks = w.GroupTile({y}, {Factors{3, 5}, Factors{2, 16}});
  w.ComputeAt(t, tasks[1]);
  Handle k = w.Loop(t, "k"), m = w.Loop(t, "m");
  std::vector<Handle> ks = w.Split(k, Factors{3, 3});
  w.Reorder({ks[0], m});
  w.CacheRead(t, ks[0], "A", "scratch");
  w.SetLayout("A.local",
              Layout::BlockedLast(std::vector<int64_t>{5, 3}, 0, 4).ToString());
  ExpectCorrect(workload, std::move(w));
}

TEST(ReplayTest, FuseAndSplitAgainKeepsEveryElement) {
  Workload workload = TwoOutputs(13, 8);
  ScheduleWriter w;
  Handle y = w.Block("Y");
  Handle fused = w.Fuse({w.Loop(y, "m"), w.Loop(y, "n")});
  w.Split(fused, Factors{7, 16});
  ExpectCorrect(workload, std::move(w));
}

TEST(ReplayTest, OutputsOfOneShapeShareTheirTasks) {
  Workload workload = TwoOutputs(13, 8);
  ScheduleWriter w;
  Handle u = w.Block("U"), v = w.Block("V"), y = w.Block("Y");
  std::vector<Handle> tasks =
      w.GroupTile({v, y}, {Factors{4, 4}, Factors{1, 8}});
  w.ComputeAt(u, tasks[1]);
  ExpectCorrect(workload, std::move(w));
}

TEST(ReplayTest, OutputIsComputedAtItsConsumerWhereTilesPartitionIt) {
  Workload workload = TwoOutputs(13, 8);
  ScheduleWriter w;
  Handle u = w.Block("U"), v = w.Block("V"), y = w.Block("Y");
  std::vector<Handle> tasks = w.GroupTile({y}, {Factors{4, 4}, Factors{1, 8}});
  w.ComputeAt(v, tasks[1]);
  w.ComputeInline(u);
  ExpectCorrect(workload, std::move(w));
}

TEST(ReplayTest, ConsumerMovesIntoItsProducer) {
  Workload workload = TwoOutputs(13, 8);
  ScheduleWriter w;
  Handle u = w.Block("U"), v = w.Block("V");
  Handle m = w.Loop(u, "m");
  std::vector<Handle> ms = w.Split(m, Factors{4, 4});
  w.ReverseComputeAt(v, ms[0]);
  ExpectCorrect(workload, std::move(w));
}

TEST(ReplayTest, FusedGemmsRecomputeNothingBetweenTasks) {
  Workload workload = TwoGemms(13, 16, 7, 8);
  ScheduleWriter w;
  Handle t1 = w.Block("T1"), t2 = w.Block("T2");
  std::vector<Handle> tasks = w.GroupTile({t2}, {Factors{4, 4}, Factors{1, 8}});
  w.ComputeAt(t1, tasks[1]);
  ExpectCorrect(workload, std::move(w));
}

TEST(ReplayTest, TupleAndNarrowReductionsCopyOut) {
  for (const Workload& workload : {ArgMax(7, 13), HalfSum(7, 13)}) {
    std::string name = workload.graph.tensor(1).name;
    ScheduleWriter w;
    Handle reduction = w.Block(name), copy = w.Block(name + ".out"),
           y = w.Block("Y");
    std::vector<Handle> tasks = w.GroupTile({y}, {Factors{2, 4}});
    w.ComputeInline(copy);
    w.ComputeAt(reduction, tasks[0]);
    w.SetLevel(reduction, "registers");
    ExpectCorrect(workload, std::move(w));
  }
}

TEST(ReplayTest, HintsForLoweringStayWithTheirLoops) {
  ScheduleWriter w;
  const Handle t = w.Block("T"), y = w.Block("Y");
  const Handle m = w.Loop(t, "m"), n = w.Loop(t, "n"), k = w.Loop(t, "k");
  w.Annotate(k, "unroll=8");
  w.Annotate(k, "prefetch=0");
  w.Annotate(k, "stages=2");
  w.Reorder({k, m, n});
  w.Annotate(y, "stream=no");
  const Workload gemm = GemmRelu(8, 16, 32);
  TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree,
                          Replay(gemm, std::move(w).Finish()));
  EXPECT_THAT(CheckTree(tree, gemm, 7), IsOk());
  EXPECT_THAT(tree.ToString(),
              HasSubstr("in 0..32 unroll 8 prefetch 0 stages 2\n"));
  EXPECT_EQ(tree.Clone().ToString(), tree.ToString());
  for (const Buffer& buffer : tree.buffers)
    EXPECT_EQ(buffer.streamed.has_value(), buffer.name == "Y") << buffer.name;
}

TEST(ReplayTest, HintsThatMeanNothingAreRefused) {
  const Workload gemm = GemmRelu(8, 16, 32);
  for (const auto& [text, message] : std::map<std::string, std::string>{
           {"unroll=0", "'0' is no number from 1 to 64"},
           {"unroll=65", "'65' is no number from 1 to 64"},
           {"unroll=", "'' is no number from 1 to 64"},
           {"prefetch=-1", "'-1' is no number from 0 to 1024"},
           {"stages=3", "'3' is no number from 1 to 2"},
           {"vectorise=4", "unknown annotation 'vectorise=4'"}}) {
    ScheduleWriter w;
    w.Annotate(w.Loop(w.Block("T"), "k"), text);
    ExpectRefused(gemm, std::move(w), message);
  }
  ScheduleWriter inside;
  const Handle m = inside.Loop(inside.Block("Y"), "m");
  inside.Annotate(m, "tile");
  inside.Annotate(m, "unroll=2");
  ExpectRefused(gemm, std::move(inside), "loop m is part of a tile");
  ScheduleWriter local;
  local.Annotate(local.Block("T"), "stream=yes");
  ExpectRefused(gemm, std::move(local), "T does not leave the group");
  ScheduleWriter maybe;
  maybe.Annotate(maybe.Block("Y"), "stream=maybe");
  ExpectRefused(gemm, std::move(maybe), "unknown annotation 'stream=maybe'");
}

TEST(ReplayTest, SwizzlesAreOfWholeRowsInScratch) {
  const Workload gemm = GemmRelu(8, 16, 32);
  ScheduleWriter w;
  const Handle t = w.Block("T");
  w.Annotate(t, "swizzle=4,4,2");
  TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree,
                          Replay(gemm, std::move(w).Finish()));
  EXPECT_THAT(CheckTree(tree, gemm, 7), IsOk());
  EXPECT_THAT(tree.ToString(), HasSubstr(" swizzle 4,4,2\n"));
  for (const auto& [text, message] : std::map<std::string, std::string>{
           {"swizzle=4,8,1", "rows of 16 elements"},
           {"swizzle=4,3,1", "no power of two"},
           {"swizzle=4", "'4' is no swizzle"}}) {
    ScheduleWriter wrong;
    wrong.Annotate(wrong.Block("T"), text);
    ExpectRefused(gemm, std::move(wrong), message);
  }
  ScheduleWriter output;
  output.Annotate(output.Block("Y"), "swizzle=4,4,1");
  ExpectRefused(gemm, std::move(output), "Y lies in no rows of scratch");
}

TEST(ReplayTest, RefusalsNameInstructionAndReason) {
  Workload gemm = GemmRelu(8, 8, 8);
  {
    ScheduleWriter w;
    w.Block("Q");
    ExpectRefused(gemm, std::move(w), "#0 block: there is no block 'Q'");
  }
  {
    ScheduleWriter w;
    w.Split(w.Loop(w.Block("T"), "m"), Factors{2, 3});
    ExpectRefused(gemm, std::move(w), "#2 split: the factors cover 6 of 8");
  }
  {
    ScheduleWriter w;
    Handle y = w.Block("Y");
    w.GroupTile({y}, {Factors{2, 4}, Factors{2, 4}});
    ExpectRefused(gemm, std::move(w), "T stands outside the task loops");
  }
  {
    ScheduleWriter w;
    w.ComputeInline(w.Block("T"));
    ExpectRefused(gemm, std::move(w), "#1 compute_inline: T is a reduction");
  }
  {
    ScheduleWriter w;
    Handle t = w.Block("T");
    w.Annotate(w.Loop(t, "k"), "tile");
    ExpectRefused(gemm, std::move(w), "carries a reduction of T");
  }
  {
    ScheduleWriter w;
    Handle y = w.Block("Y");
    w.SetLevel(y, "registers");
    ExpectRefused(gemm, std::move(w), "#1 set_level: Y leaves the group");
  }
  {
    // The consumer is moved after its producer was attached to it.
    ScheduleWriter w;
    Workload conv = ConvPadRelu(3, 5, 9, 8, 3, 1, 1);
    Handle p = w.Block("P"), c = w.Block("C"), y = w.Block("Y");
    w.ComputeAt(p, w.Loop(c, "oh"));
    w.ComputeAt(c, w.Loop(y, "oh"));
    ExpectRefused(conv, std::move(w),
                  "#6 compute_at: only the part of P that C needs");
  }
  {
    // Halos overlap: an output cannot be computed twice.
    Workload conv = ConvPadRelu(3, 5, 9, 8, 3, 1, 1);
    TensorGraph& g = conv.graph;
    g.SetOutputs({*g.Find("P"), *g.Find("Y")});
    ScheduleWriter w;
    Handle p = w.Block("P"), c = w.Block("C");
    w.ComputeAt(p, w.Loop(c, "oh"));
    ExpectRefused(conv, std::move(w), "would not be computed exactly once");
  }
}

// Each round doubles the index expressions.
TEST(ReplayTest, EndlessFusingAndSplittingIsRefusedInTime) {
  ScheduleWriter w;
  Handle y = w.Block("Y");
  Handle m = w.Loop(y, "m"), n = w.Loop(y, "n");
  for (int i = 0; i < 60; ++i) {
    std::vector<Handle> parts = w.Split(w.Fuse({m, n}), Factors{5, 7});
    m = parts[0];
    n = parts[1];
  }
  ExpectRefused(TwoOutputs(7, 5), std::move(w),
                "the index expressions of Y would become too large");
}

// Garbage: any primitive, handles around the valid ones, wrong counts, wrong
// factors, texts that mean something elsewhere.
TEST(ReplayTest, GarbageTracesAreRefusedOrCorrect) {
  int accepted = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    Workload workload = DrawWorkload(seed % 50);
    Schedule schedule;
    const std::vector<std::string> texts = {
        "unroll=2", "prefetch=1", "stream=yes", "T",         "Y",
        "C",        "P",          "S",          "m",         "n",
        "k",        "oh",         "r",          "c",         "tile",
        "unroll",   "registers",  "scratch",    "A scratch", "X registers",
        "",         "B ",         "x y z"};
    int next = 0;
    for (int64_t i = random.UniformInt(1, 12); i > 0; --i) {
      Instruction instruction;
      instruction.primitive = static_cast<Primitive>(
          random.UniformInt(0, random.Bernoulli(0.02) ? 40 : 15));
      if (random.Bernoulli(0.4))
        instruction.primitive =
            random.Bernoulli(0.4) ? Primitive::kBlock : Primitive::kLoop;
      for (int64_t o = random.UniformInt(0, 3); o > 0; --o)
        instruction.operands.push_back(
            static_cast<int>(random.UniformInt(-1, next + 1)));
      if (instruction.primitive == Primitive::kBlock)
        instruction.operands.clear();
      if (instruction.primitive == Primitive::kLoop)
        instruction.operands = {static_cast<int>(random.UniformInt(0, next))};
      for (int64_t d = random.UniformInt(0, 2);
           d > 0 && instruction.primitive != Primitive::kLoop &&
           instruction.primitive != Primitive::kBlock;
           --d) {
        Factors& factors = instruction.factors.emplace_back();
        for (int64_t f = random.UniformInt(1, 3); f > 0; --f)
          factors.push_back(random.UniformInt(-1, 5));
      }
      instruction.text = texts[random.Index(texts.size())];
      int results = instruction.primitive == Primitive::kSplit ||
                            instruction.primitive == Primitive::kGroupTile
                        ? 2
                        : 1;
      for (int r = 0; r < results; ++r) instruction.results.push_back(next + r);
      // Prefixes that replay are kept, so that garbage meets trees that mean
      // something.
      Schedule longer = schedule;
      longer.instructions.push_back(instruction);
      absl::StatusOr<BlockTree> tree = Replay(workload, longer);
      if (!tree.ok()) {
        EXPECT_THAT(tree.status().code(),
                    ::testing::AnyOf(StatusCode::kInvalidArgument,
                                     StatusCode::kUnimplemented))
            << tree.status();
        if (tree.status().message().find("at the end") ==
            absl::string_view::npos)
          continue;
      }
      schedule = std::move(longer);
      next += results;
    }
    absl::StatusOr<BlockTree> tree = Replay(workload, schedule);
    if (!tree.ok()) continue;
    ++accepted;
    EXPECT_THAT(VerifyBlockTree(*tree), IsOk())
        << schedule.ToString() << tree->ToString();
    EXPECT_THAT(CheckTree(*tree, workload, seed), IsOk())
        << schedule.ToString() << tree->ToString();
  }
  EXPECT_GT(accepted, 500);
}

}  // namespace
}  // namespace tilewright::sketch
