#include "tilegraph/cost/stage_rules.h"

#include <string>
#include <utility>

#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Scores, softmax and weighted sum, by tensors: Q 0, K 1, V 2, S 3, M 4, E 5,
// L 6, P 7, Y 8.
TensorGraph Attention(int tokens, const std::string& weighted = "sum") {
  return *ParseText(absl::Substitute(R"(
    Q: f32[$0, 64] = placeholder
    K: f32[64, $0] = placeholder
    V: f32[$0, 64] = placeholder
    S: f32[$0, $0] = compute (i: $0, j: $0) reduce (d: 64) sum:f32 {
      Q[i, d] * K[d, j] }
    M: f32[$0] = compute (i: $0) reduce (j: $0) max:f32 { S[i, j] }
    E: f32[$0, $0] = compute (i: $0, j: $0) { exp(S[i, j] - M[i]) }
    L: f32[$0] = compute (i: $0) reduce (j: $0) sum:f32 { E[i, j] }
    P: f32[$0, $0] = compute (i: $0, j: $0) { E[i, j] / L[i] }
    Y: f32[$0, 64] = compute (i: $0, c: 64) reduce (j: $0) $1:f32 {
      P[i, j] * V[j, c] }
    return Y
  )",
                                     tokens, weighted));
}

Group Stages(std::vector<Stage> stages) {
  Group group;
  for (const Stage& stage : stages)
    group.members.insert(group.members.end(), stage.members.begin(),
                         stage.members.end());
  group.output = group.members.back();
  group.stages = std::move(stages);
  return group;
}

// Steps of each block if the last stage takes `step` steps at a time.
ReduceSteps StepsBy(const TensorGraph& graph, Group group, int64_t step) {
  group.tile_plan.stages = ExpectedStages(graph, group, step);
  return ReduceStepsOf(graph, group);
}

TEST(StageRulesTest, ReductionsOfRowsFollowTheBlocks) {
  const TensorGraph graph = Attention(2048);
  const Group group = Stages({{{3}}, {{4, 5, 6, 7}}, {{8}}});
  EXPECT_THAT(StepsBy(graph, group, 256),
              ElementsAre(Pair(4, ElementsAre(256)), Pair(6, ElementsAre(256)),
                          Pair(8, ElementsAre(256))));
  EXPECT_THAT(ReduceStepsWorthTrying(graph, group, 16),
              ElementsAre(128, 256, 512));
  const std::vector<StageDecision> stages = ExpectedStages(graph, group, 256);
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(ToString(stages[0]), "in the blocks of stage 2");
  EXPECT_EQ(ToString(stages[1]), "follows the blocks of stage 2");
  EXPECT_EQ(ToString(stages[2]), "by 256 steps");
  EXPECT_EQ(stages[0].family, ComputeFamily::kContraction);
  EXPECT_EQ(stages[1].family, ComputeFamily::kRowReduction);
}

TEST(StageRulesTest, BlocksAreEvenAndOfWholeVectors) {
  const Group group = Stages({{{3}}, {{4, 5, 6, 7}}, {{8}}});
  EXPECT_THAT(ReduceStepsWorthTrying(Attention(768), group, 16),
              ElementsAre(128, 256, 384));
  EXPECT_THAT(ReduceStepsWorthTrying(Attention(197), group, 16),
              ElementsAre(112));
  EXPECT_THAT(ReduceStepsWorthTrying(Attention(128), group, 16), IsEmpty());
}

// A 1x1 product and a padding around it, read by nobody else.
TEST(StageRulesTest, APaddingIsWrittenWithWhatItSurroundsUnlessThatLeaves) {
  const TensorGraph graph = *ParseText(R"(
    X: f32[8, 30] = placeholder
    W: f32[8, 8] = placeholder
    T: f32[8, 30] = compute (o: 8, x: 30) reduce (c: 8) sum:f32 {
      X[c, x] * W[o, c] }
    P: f32[8, 32] = compute (o: 8, x: 32) {
      select(x >= 1 && x < 31, T[o, x - 1], 0.0) }
    Y: f32[8, 30] = compute (o: 8, x: 30) reduce (k: 3) sum:f32 {
      P[o, x + k] }
    return Y
  )");
  Group group = Stages({{{2}}, {{3}}, {{4}}});
  group.tile_plan.stages = ExpectedStages(graph, group, 0);
  EXPECT_FALSE(group.tile_plan.stages[0].held);
  EXPECT_TRUE(IsComputedWithNext(graph, group, 0));
  EXPECT_FALSE(IsComputedWithNext(graph, group, 1));
  group.side_outputs = {2};
  group.tile_plan.stages = ExpectedStages(graph, group, 0);
  EXPECT_TRUE(group.tile_plan.stages[0].held);
  EXPECT_FALSE(IsComputedWithNext(graph, group, 0));
}

// Its own reduction is of another axis, of the same extent.
TEST(StageRulesTest, WhatABlockComputesOnceTakesItsStepsWhole) {
  const TensorGraph graph = *ParseText(R"(
    A: f32[64, 1024] = placeholder
    B: f32[1024, 1024] = placeholder
    C: f32[1024, 32] = placeholder
    T: f32[64, 1024] = compute (m: 64, n: 1024) reduce (k: 1024) sum:f32 {
      A[m, k] * B[k, n] }
    Y: f32[64, 32] = compute (m: 64, n: 32) reduce (k: 1024) sum:f32 {
      T[m, k] * C[k, n] }
    return Y
  )");
  EXPECT_THAT(StepsBy(graph, Stages({{{3}}, {{4}}}), 512),
              ElementsAre(Pair(4, ElementsAre(512))));
}

TEST(StageRulesTest, OnlySumsOverWhatStagesComputeAndNobodyElseReads) {
  const TensorGraph graph = Attention(2048);
  Group group = Stages({{{3}}, {{4, 5, 6, 7}}, {{8}}});
  group.side_outputs = {7};
  EXPECT_THAT(StepsBy(graph, group, 256), IsEmpty());
  EXPECT_THAT(ReduceStepsWorthTrying(graph, group, 16), IsEmpty());
  group.side_outputs = {};
  EXPECT_THAT(StepsBy(Attention(2048, "max"), group, 256), IsEmpty());
  // The scores come from outside, and rows do not end with a sum.
  EXPECT_THAT(StepsBy(graph, Stages({{{8}}}), 256), IsEmpty());
  EXPECT_THAT(StepsBy(graph, Stages({{{3}}, {{4, 5, 6, 7}}}), 256), IsEmpty());
}

}  // namespace
}  // namespace tilewright
