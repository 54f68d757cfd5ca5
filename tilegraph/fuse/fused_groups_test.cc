#include "tilegraph/fuse/fused_groups.h"

#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/testing/connect_testing.h"
#include "tilegraph/testing/test_graphs.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using FusedGroupsTest = ConnectTest;

TEST_F(FusedGroupsTest, OutputsOfTheModelAreWrittenByTheirStage) {
  const TensorGraph graph = Mlp(4096, 64, 64, 64, "Y, R");
  const Plan plan = Connect(graph, force_);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_THAT(Names(graph, plan.groups[0].side_outputs), ElementsAre("R"));
  EXPECT_THAT(Names(graph, OutputsOf(plan.groups[0])), ElementsAre("R", "Y"));
  // Whole rows: nothing of R may be written twice.
  EXPECT_EQ(plan.groups[0].tile_plan.tile[1], 64);
}

TEST_F(FusedGroupsTest, OneReaderIsJoinedAndOthersReadInMemory) {
  const TensorGraph graph =
      Products(256, 64, {"T = A B", "Y = T B", "Z = T B'"}, "Y, Z");
  const Plan plan = Connect(graph, force_);
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_THAT(Names(graph, plan.groups[0].members), ElementsAre("T", "Y"));
  EXPECT_THAT(Names(graph, plan.groups[0].side_outputs), ElementsAre("T"));
  EXPECT_THAT(Names(graph, plan.groups[1].inputs), ElementsAre("B", "T"));
}

// The sum is read by a norm right away and by another sum at the end.
TEST_F(FusedGroupsTest, ResidualStreamsLeaveTheGroup) {
  const TensorGraph graph = Products(256, 64,
                                     {"T = A B", "S = T + R", R"(
    M: f32[256, 1] = compute (m: 256, o: 1) reduce (k: 64) sum:f32 { S[m, k] }
    N: f32[256, 64] = compute (m: 256, n: 64) { S[m, n] - M[m, 0] })",
                                      "U = N B", "Y = U + S"},
                                     "Y");
  const Plan apart = MakePlan(graph, {});
  ASSERT_EQ(apart.groups.size(), 3u);
  const Plan plan = FusionRules(graph, apart)
                        .WithFusions({Fusion{{0, 1}, {{16, 64}}, "here"}});
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_THAT(Names(graph, plan.groups[0].side_outputs), ElementsAre("S"));
  EXPECT_EQ(plan.layouts.at(*graph.Find("S")),
            apart.layouts.at(*graph.Find("S")));
  EXPECT_THAT(ToString(plan, graph), HasSubstr("writes  S"));
  const FusionRules rules(graph, apart);
  TW_ASSERT_OK_AND_ASSIGN(const Group whole, rules.Fused({0, 1, 2}));
  EXPECT_THAT(whole.side_outputs, IsEmpty());
}

// V reads what the group computes, and its result is what the group needs.
TEST_F(FusedGroupsTest, ReadersBeforeTheEndOfTheGroupForbidFusing) {
  const TensorGraph graph = Products(256, 64,
                                     {"T = A B", R"(
    V: f32[64, 64] = compute (m: 64, n: 64) reduce (k: 256) sum:f32 {
      T[k, m] * T[k, n] })",
                                      "Y = T V"},
                                     "Y");
  const Plan plan = MakePlan(graph, {});
  const FusionRules rules(graph, plan);
  EXPECT_THAT(std::string(rules.Fused({0, 2}).status().message()),
              HasSubstr("T is also read by V, which runs before Y"));
}

TEST_F(FusedGroupsTest, PaddingsBecomeStages) {
  const TensorGraph graph = TwoConvolutions();
  const Plan plan = Connect(graph, force_);
  ASSERT_EQ(plan.groups.size(), 1u);
  const std::vector<Stage>& stages = plan.groups[0].stages;
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_THAT(Names(graph, stages[0].members), ElementsAre("C", "R"));
  EXPECT_THAT(Names(graph, stages[1].members), ElementsAre("P"));
  EXPECT_THAT(Names(graph, stages[2].members), ElementsAre("D", "Y"));
  EXPECT_TRUE(plan.views.empty());
  // The padding is computed instead of being a halo: scratch memory has none.
  const Layout& layout = plan.layouts.at(stages[0].members.back());
  EXPECT_THAT(layout.pad_before(), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(plan.layouts.at(stages[1].members[0]).shape(),
            (std::vector<int64_t>{1, 16, 34, 34}));
}

// R has zeros around it in memory, the stage that pads it has them in scratch.
TEST_F(FusedGroupsTest, PaddingsOfSideOutputsAreStagesToo) {
  const TensorGraph graph = TwoConvolutions("Y, R");
  const Plan apart = MakePlan(graph, {});
  const FusionRules rules(graph, apart);
  TW_ASSERT_OK_AND_ASSIGN(const Group group, rules.Fused({0, 1, 2}));
  EXPECT_THAT(Names(graph, group.side_outputs), ElementsAre("R"));
  EXPECT_EQ(group.stages.size(), 3u);
  // Neighbours in height or width would overlap.
  const GroupEvaluator evaluator(graph, apart, spec_);
  TW_ASSERT_OK_AND_ASSIGN(const GroupCost best, evaluator.Best(group));
  EXPECT_TRUE(best.covers);
  EXPECT_EQ(best.plan.tile[2], 32);
  EXPECT_EQ(best.plan.tile[3], 32);
}

TEST_F(FusedGroupsTest, PaddingsThatOthersReadForbidFusing) {
  const TensorGraph graph = TwoConvolutions("Y, E", R"(
    E: f32[1, 16, 32, 32] = compute (n: 1, o: 16, h: 32, w: 32)
      reduce (i: 3, j: 3) max:f32 { P[n, o, h + i, w + j] })");
  const Plan plan = MakePlan(graph, {});
  const FusionRules rules(graph, plan);
  EXPECT_THAT(std::string(rules.Fused({0, 1}).status().message()),
              HasSubstr("P is read inside and outside"));
}

TEST_F(FusedGroupsTest, ViewsBelongToTheStageThatReadsThem) {
  const TensorGraph graph = Products(4096, 64, {"T = A B", R"(
    V: f32[4096, 4, 16] = compute (m: 4096, h: 4, d: 16) { T[m, h * 16 + d] }
    Y: f32[4096, 4] = compute (m: 4096, h: 4) reduce (d: 16) sum:f32 {
      V[m, h, d] })"},
                                     "Y");
  const Plan plan = Connect(graph, force_);
  ASSERT_EQ(plan.groups.size(), 1u);
  ASSERT_EQ(plan.groups[0].stages.size(), 2u);
  EXPECT_THAT(Names(graph, plan.groups[0].stages[1].members),
              ElementsAre("V", "Y"));
  EXPECT_TRUE(plan.views.empty());
}

TEST_F(FusedGroupsTest, PartsOfConcatenationsStayInMemory) {
  const TensorGraph graph = Products(64, 32, {"T = A B", "U = A B'", R"(
    K: f32[64, 64] = compute (m: 64, n: 64) {
      select(n < 32, T[m, n], U[m, n - 32]) }
    Y: f32[64] = compute (m: 64) reduce (k: 64) sum:f32 { K[m, k] * K[m, k] })"},
                                     "Y");
  EXPECT_EQ(Connect(graph, force_).groups.size(), 3u);
  EXPECT_TRUE(connected_.fusions.empty());
}

TEST_F(FusedGroupsTest, ScalarsHaveNoTiles) {
  const TensorGraph graph = Products(64, 32, {"T = A B", R"(
    Y: f32[] = compute () reduce (m: 64, n: 32) sum:f32 { T[m, n] })"},
                                     "Y");
  EXPECT_EQ(Connect(graph, force_).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("a scalar has no tiles"));
}

}  // namespace
}  // namespace tilewright
