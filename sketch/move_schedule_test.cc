#include "sketch/move_schedule.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay.h"
#include "sketch/schedule.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/text_form.h"

namespace tilewright::sketch {
namespace {

using ::testing::HasSubstr;

Workload Parse(const std::string& text,
               const std::map<std::string, Layout>& layouts = {}) {
  const absl::StatusOr<TensorGraph> graph = ParseText(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  Workload workload{*graph, {}};
  for (const auto& [name, layout] : layouts)
    workload.layouts[*workload.graph.Find(name)] = layout;
  return workload;
}

std::optional<Crossing> Find(const Workload& workload) {
  return FindCrossing(workload, *FindChain(workload.graph));
}

constexpr char kTransposition[] =
    "X: f32[300, 200] = placeholder\n"
    "Y: f32[200, 300] = compute (i: 200, j: 300) { X[j, i] }\n"
    "return Y\n";

TEST(FindCrossingTest, OfATranspositionIsTheInputsContiguousAxis) {
  const std::optional<Crossing> crossing = Find(Parse(kTransposition));
  ASSERT_TRUE(crossing.has_value());
  EXPECT_EQ(crossing->axis, 0);
  EXPECT_EQ(crossing->run, 200);
}

TEST(FindCrossingTest, OfBlockedChannelsEndsWithTheBlock) {
  const std::optional<Crossing> crossing =
      Find(Parse("X: f32[64, 50] = placeholder\n"
                 "Y: f32[64, 50] = compute (c: 64, p: 50) { max(X[c, p], 0) }\n"
                 "return Y\n",
                 {{"X", Layout::BlockedLast({64, 50}, 0, 16)}}));
  ASSERT_TRUE(crossing.has_value());
  EXPECT_EQ(crossing->axis, 0);
  EXPECT_EQ(crossing->run, 16);
}

TEST(FindCrossingTest, ThereIsNoneWhereVectorsAreContiguousOrRepeated) {
  EXPECT_FALSE(Find(Parse("X: f32[64, 50] = placeholder\n"
                          "b: f32[64] = placeholder\n"
                          "Y: f32[64, 50] = compute (c: 64, p: 50)"
                          " { X[c, p] + b[c] }\n"
                          "return Y\n"))
                   .has_value());
  // Rows of heads move whole.
  EXPECT_FALSE(Find(Parse("X: f32[8, 4, 64] = placeholder\n"
                          "Y: f32[4, 8, 64] = compute (h: 4, s: 8, d: 64)"
                          " { X[s, h, d] }\n"
                          "return Y\n"))
                   .has_value());
}

TEST(FindCrossingTest, TheLargestInputDecides) {
  const std::optional<Crossing> crossing =
      Find(Parse("X: f32[64, 50, 8] = placeholder\n"
                 "b: f32[50, 64] = placeholder\n"
                 "Y: f32[8, 64, 50] = compute (n: 8, c: 64, p: 50)"
                 " { X[c, p, n] + b[p, c] }\n"
                 "return Y\n"));
  ASSERT_TRUE(crossing.has_value());
  EXPECT_EQ(crossing->axis, 0);
}

TEST(MoveScheduleTest, TheTileSpansLinesOfBothSides) {
  const Workload workload = Parse(kTransposition);
  const Chain chain = *FindChain(workload.graph);
  ScheduleWriter writer;
  PreferredPolicy policy;
  Decider decider(policy);
  WriteMove(workload, *LoadSpec("cpu_x86_64_v4"), chain,
            *FindCrossing(workload, chain),
            {writer, decider, std::nullopt, {}});
  const Schedule schedule = std::move(writer).Finish();
  TW_EXPECT_OK(Replay(workload, schedule).status());
  EXPECT_THAT(schedule.ToString(), HasSubstr("\"tile\""));
}

}  // namespace
}  // namespace tilewright::sketch
