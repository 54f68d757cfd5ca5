// Sliding windows under random answers to all that their family decides.
#include "sketch/rules/window_decisions.h"

#include <cstdint>
#include <iostream>
#include <set>
#include <string>

#include "backends/spec/load_spec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/checked_decisions.h"
#include "sketch/testing/window_workloads.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::SizeIs;

constexpr uint64_t kSeeds = 300;
// Multiply-adds: the interpreter takes microseconds for each.
constexpr int64_t kMostPoints = 4000;

int64_t Points(const Workload& workload) {
  int64_t points = 0;
  for (const Tensor& tensor : workload.graph.tensors()) {
    if (tensor.kind != TensorKind::kCompute) continue;
    int64_t here = 1;
    for (const Axis& axis : tensor.compute.axes) here *= axis.extent.value();
    for (const Axis& axis : tensor.compute.reduce_axes)
      here *= axis.extent.value();
    points += here;
  }
  return points;
}

TEST(WindowDecisionsTest, RandomAnswersComputeTheWindow) {
  const char* const specs[] = {"cpu_x86_64_v4", "cpu_x86_64_v3",
                               "cpu_x86_64_v2"};
  DecisionTally tally;
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    const Workload workload = DrawWindow(seed);
    if (Points(workload) > kMostPoints) continue;
    DeviceSpec spec = *LoadSpec(specs[seed % 3]);
    // With few cores tasks may take many tiles.
    if (seed % 2 == 0) spec.mutable_unit()->set_cores(1);
    const Generator generator = Generators(workload).front();
    if (generator.name != "sliding window") continue;
    CheckDecisions(generator, workload, spec, seed, tally);
  }
  // Several vectors of channels.
  const Workload wide = *ParseWorkload(R"(X: f32[4, 4, 64] = placeholder
W: f32[64, 3, 3] = placeholder
Y: f32[2, 2, 64] = compute (h: 2, w: 2, c: 64) reduce (i: 3, j: 3) sum:f32 { X[h + i, w + j, c] * W[c, i, j] }
return Y
#constant W
)");
  for (uint64_t seed = 0; seed < 12 && !HasFailure(); ++seed) {
    CheckDecisions(Generators(wide).front(), wide, *LoadSpec("cpu_x86_64_v4"),
                   seed, tally);
  }
  std::cout << tally.ToString();
  EXPECT_GT(tally.schedules, 60);
  EXPECT_TRUE(tally.refusals.empty());
  EXPECT_THAT(tally.values["pack"], ElementsAre("panels", "plain", "vectors"));
  for (const char* name :
       {"tile", "taps.r0", "taps.r1", "task.rows", "task.outer_rows",
        "task.vectors", "order", "reduce.order", "taps.order"}) {
    EXPECT_THAT(tally.values[name], SizeIs(Gt(2u))) << name;
  }
}

// Depthwise, channels along the vector axis: X[v, oh + kh, ow + kw] and W[v,
// kh, kw].
WindowSpace Depthwise(int64_t size, int64_t kernel) {
  WindowSpace space;
  space.vectors = 8;
  space.rows = space.outer_rows = size;
  space.reduce = {kernel, kernel};
  const int kh = kFirstReduceAxis, kw = kFirstReduceAxis + 1;
  space.accesses = {{{{{kVectorAxis, 1}},
                      {{kOuterRowAxis, 1}, {kh, 1}},
                      {{kRowAxis, 1}, {kw, 1}}}},
                    {{{{kVectorAxis, 1}}, {{kh, 1}}, {{kw, 1}}}}};
  return space;
}

TEST(WindowDecisionsTest, PreferredIsTheChoice) {
  for (const int64_t size : {1, 7, 14, 56}) {
    for (const int64_t kernel : {1, 3, 5, 7, 31}) {
      const WindowSpace space = Depthwise(size, kernel);
      PreferredPolicy policy;
      Decider decider(policy);
      const WindowTile tile = DecideWindowTile(decider, space),
                       rule = ChooseWindowTile(space);
      EXPECT_EQ(tile.vectors, rule.vectors);
      EXPECT_EQ(tile.rows, rule.rows);
      EXPECT_EQ(tile.outer_rows, rule.outer_rows);
      EXPECT_EQ(tile.unrolled, rule.unrolled);
    }
  }
}

// Tiles that a space admits are those that fit, counted by brute force; where
// fewer taps are unrolled there are more.
TEST(WindowDecisionsTest, TilesAreAllThatFit) {
  const WindowSpace space = Depthwise(14, 3);
  double before = 0;
  for (const char* taps : {"3", "2", "1"}) {
    PreferredPolicy preferred;
    TablePolicy policy({{"taps.r0", taps}, {"taps.r1", taps}}, preferred);
    Decider decider(policy);
    const WindowTile tile = DecideWindowTile(decider, space);
    int64_t fit = 0;
    for (int64_t vectors = 1; vectors <= 8; ++vectors) {
      for (int64_t rows = 1; rows <= 14; ++rows) {
        for (int64_t outer = 1; outer <= 14; ++outer)
          fit += FitsRegisters(space, {vectors, rows, outer, tile.unrolled});
      }
    }
    const Space& tiles = decider.decisions().back().space;
    EXPECT_EQ(tiles.size(), static_cast<double>(fit)) << taps;
    EXPECT_GT(tiles.size(), before);
    before = tiles.size();
  }
}

// The preferred answers about a depthwise convolution of 40 channels. Its input
// is larger than a private cache.
Answers PreferredOfChannels(const Layout& input, const Layout& output) {
  Workload workload = *ParseWorkload(R"(X: f32[1, 40, 130, 130] = placeholder
W: f32[40, 3, 3] = placeholder
Y: f32[1, 40, 128, 128] = compute (n: 1, c: 40, h: 128, w: 128) reduce (i: 3, j: 3) sum:f32 { X[n, c, h + i, w + j] * W[c, i, j] }
return Y
#constant W
)");
  workload.layouts[*workload.graph.Find("X")] = input;
  workload.layouts[*workload.graph.Find("Y")] = output;
  DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  spec.mutable_unit()->set_cores(1);
  const absl::StatusOr<Schedule> schedule =
      GeneratePreferred(Generators(workload).front(), workload, spec);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return schedule.ok() ? AnswersOf(*schedule) : Answers();
}

// Channels that lie side by side share lines, and the next vector lies behind
// this one; blocks of channels are far apart, and their filters are used again.
TEST(WindowDecisionsTest, TasksPassThroughMemoryAsItLies) {
  const auto last = [](int64_t size) {
    return *Layout::Create({1, 40, size, size}, {0, 0, 0, 0}, {0, 0, 0, 0},
                           {{0, 1, 1}, {2, 1, size}, {3, 1, size}, {1, 1, 40}},
                           Layout::Fill::kUndefined);
  };
  const Answers side_by_side = PreferredOfChannels(last(130), last(128));
  EXPECT_EQ(side_by_side.at("task.vectors"), "3");
  EXPECT_EQ(side_by_side.at("order"), "(outer_rows, rows, vectors)");
  const Answers blocked =
      PreferredOfChannels(Layout::BlockedLast({1, 40, 130, 130}, 1, 16),
                          Layout::BlockedLast({1, 40, 128, 128}, 1, 16));
  EXPECT_EQ(blocked.at("task.vectors"), "1");
}

}  // namespace
}  // namespace tilewright::sketch
