#include "sketch/rules/move_schedule.h"

#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/testing/checked_decisions.h"
#include "sketch/testing/move_workloads.h"
#include "sketch/trace/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Workload Parse(const std::string& text,
               const std::map<std::string, Layout>& layouts = {}) {
  const absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  Workload workload{*graph, {}};
  for (const auto& [name, layout] : layouts)
    workload.layouts[*workload.graph.Find(name)] = layout;
  return workload;
}

std::vector<Crossing> Find(const Workload& workload) {
  return FindCrossings(workload, *FindChain(workload.graph));
}

constexpr char kTransposition[] =
    "X: f32[300, 200] = placeholder\n"
    "Y: f32[200, 300] = compute (i: 200, j: 300) { X[j, i] }\n"
    "return Y\n";

TEST(FindCrossingsTest, OfATranspositionIsTheInputsContiguousAxis) {
  const std::vector<Crossing> crossings = Find(Parse(kTransposition));
  ASSERT_FALSE(crossings.empty());
  EXPECT_EQ(crossings[0].axis, 0);
  EXPECT_EQ(crossings[0].run, 200);
}

TEST(FindCrossingsTest, OfBlockedChannelsEndsWithTheBlock) {
  const std::vector<Crossing> crossings =
      Find(Parse("X: f32[64, 50] = placeholder\n"
                 "Y: f32[64, 50] = compute (c: 64, p: 50) { max(X[c, p], 0) }\n"
                 "return Y\n",
                 {{"X", Layout::BlockedLast({64, 50}, 0, 16)}}));
  ASSERT_FALSE(crossings.empty());
  EXPECT_EQ(crossings[0].axis, 0);
  EXPECT_EQ(crossings[0].run, 16);
}

TEST(FindCrossingsTest, ThereIsNoneWhereVectorsAreContiguousOrRepeated) {
  EXPECT_TRUE(Find(Parse("X: f32[64, 50] = placeholder\n"
                         "b: f32[64] = placeholder\n"
                         "Y: f32[64, 50] = compute (c: 64, p: 50)"
                         " { X[c, p] + b[c] }\n"
                         "return Y\n"))
                  .empty());
  // Rows of heads move whole.
  EXPECT_TRUE(Find(Parse("X: f32[8, 4, 64] = placeholder\n"
                         "Y: f32[4, 8, 64] = compute (h: 4, s: 8, d: 64)"
                         " { X[s, h, d] }\n"
                         "return Y\n"))
                  .empty());
}

TEST(FindCrossingsTest, TheLargestInputsComeFirst) {
  const std::vector<Crossing> crossings =
      Find(Parse("X: f32[64, 50, 8] = placeholder\n"
                 "b: f32[50, 64] = placeholder\n"
                 "Y: f32[8, 64, 50] = compute (n: 8, c: 64, p: 50)"
                 " { X[c, p, n] + b[p, c] }\n"
                 "return Y\n"));
  ASSERT_FALSE(crossings.empty());
  EXPECT_EQ(crossings[0].axis, 0);
  ASSERT_EQ(crossings.size(), 2u);
  EXPECT_EQ(crossings[1].axis, 1);
}

TEST(MoveScheduleTest, TheTileSpansLinesOfBothSides) {
  const Workload workload = Parse(kTransposition);
  const Chain chain = *FindChain(workload.graph);
  ScheduleWriter writer;
  PreferredPolicy policy;
  Decider decider(policy);
  WriteMove(workload, *LoadSpec("cpu_x86_64_v4"), chain,
            FindCrossings(workload, chain),
            {writer, decider, std::nullopt, {}});
  const Schedule schedule = std::move(writer).Finish();
  TW_EXPECT_OK(Replay(workload, schedule).status());
  EXPECT_THAT(schedule.ToString(), HasSubstr("\"tile\""));
}

// A tile of two parts could not be transposed as a whole: of 48 channels each,
// three vectors.
TEST(MoveScheduleTest, TilesOfConcatenationsFillParts) {
  const Workload workload = Parse(
      "X: f32[48, 64] = placeholder\n"
      "Z: f32[64, 48] = placeholder\n"
      "Y: f32[64, 96] = compute (p: 64, c: 96) "
      "{ select(c < 48, X[c, p], Z[p, c - 48]) }\n"
      "return Y\n");
  const absl::StatusOr<Schedule> schedule =
      DefaultSchedule(workload, *LoadSpec("cpu_x86_64_v4"));
  TW_ASSERT_OK(schedule.status());
  EXPECT_THAT(schedule->ToString(), HasSubstr("tile = columns 3,"));
}

// Both families that have no reduction.
TEST(MoveScheduleTest, AnyDecisionsComputeTheSame) {
  std::map<std::string, DecisionTally> tallies;  // by generator
  for (uint64_t seed = 0; seed < 220 && !HasFailure(); ++seed) {
    const Workload workload = DrawMove(seed);
    const DeviceSpec spec =
        *LoadSpec(seed % 2 == 0 ? "cpu_x86_64_v4" : "cpu_x86_64_v2");
    const Generator generator = Generators(workload).front();
    CheckDecisions(generator, workload, spec, seed, tallies[generator.name]);
  }
  for (const char* family : {"elementwise", "transpose or gather"}) {
    const DecisionTally& tally = tallies[family];
    std::cout << family << ": " << tally.ToString();
    EXPECT_GT(tally.schedules, 50) << family;
    EXPECT_THAT(tally.refusals, IsEmpty()) << family;
    EXPECT_THAT(tally.NeverTaken(), IsEmpty()) << family;
  }
}

}  // namespace
}  // namespace tilewright::sketch
