// Attention by estimate: scores, softmax and weighted sum become one group, in
// blocks of keys where whole rows leave no room.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/fuse/connect_plan.h"
#include "tilegraph/plan/plan.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 12 heads of 64. K lies as the scores want it, or is transposed before.
TensorGraph Attention(int tokens, bool transposed) {
  return *ParseText(absl::Substitute(
      R"(
    Q: f32[12, $0, 64] = placeholder
    $1
    V: f32[12, $0, 64] = placeholder
    S: f32[12, $0, $0] = compute (h: 12, i: $0, j: $0) reduce (d: 64) sum:f32 {
      Q[h, i, d] * T[h, d, j] }
    C: f32[12, $0, $0] = compute (h: 12, i: $0, j: $0) { S[h, i, j] * 0.125 }
    M: f32[12, $0] = compute (h: 12, i: $0) reduce (j: $0) max:f32 {
      C[h, i, j] }
    E: f32[12, $0, $0] = compute (h: 12, i: $0, j: $0) {
      exp(C[h, i, j] - M[h, i]) }
    L: f32[12, $0] = compute (h: 12, i: $0) reduce (j: $0) sum:f32 {
      E[h, i, j] }
    P: f32[12, $0, $0] = compute (h: 12, i: $0, j: $0) { E[h, i, j] / L[h, i] }
    Y: f32[12, $0, 64] = compute (h: 12, i: $0, c: 64) reduce (j: $0) sum:f32 {
      P[h, i, j] * V[h, j, c] }
    return Y
  )",
      tokens,
      transposed
          ? absl::Substitute(
                "K: f32[12, $0, 64] = placeholder\n"
                "T: f32[12, 64, $0] = compute (h: 12, d: 64, j: $0) { "
                "K[h, j, d] }",
                tokens)
          : absl::Substitute("T: f32[12, 64, $0] = placeholder", tokens)));
}

class ConnectAttentionTest : public testing::Test {
 protected:
  Plan Connect(const TensorGraph& graph, const ConnectPlanOptions& how = {}) {
    const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
    PlanOptions options;
    options.connect = PlanOptions::Connect::kTileGraph;
    const Plan plan = MakePlan(graph, options);
    connected_ =
        ConnectPlan(graph, plan, GroupEvaluator(graph, plan, spec), how);
    return FusedPlan(graph, plan, connected_);
  }
  ConnectedGroups connected_;
};

TEST_F(ConnectAttentionTest, Of2048TokensIsOneGroupInBlocksOfKeys) {
  const TensorGraph graph = Attention(2048, /*transposed=*/false);
  const Plan plan = Connect(graph);
  ASSERT_EQ(plan.groups.size(), 1u) << ToString(plan, graph);
  EXPECT_EQ(plan.groups[0].stages.size(), 3u);
  EXPECT_THAT(plan.groups[0].tile_plan.reduce_step(),
              testing::AnyOf(128, 256, 512));
  EXPECT_THAT(plan.groups[0].why, Contains(HasSubstr("steps at a time")));
}

TEST_F(ConnectAttentionTest, TheTransposeOfTheKeysStaysOutside) {
  const TensorGraph graph = Attention(2048, /*transposed=*/true);
  const Plan plan = Connect(graph);
  ASSERT_EQ(plan.groups.size(), 2u) << ToString(plan, graph);
  EXPECT_EQ(graph.tensor(plan.groups[0].output).name, "T");
  EXPECT_EQ(plan.groups[1].stages.size(), 3u);
  ASSERT_EQ(connected_.fusions.size(), 1u);
  EXPECT_THAT(connected_.fusions[0].groups, ElementsAre(1, 2, 3));
}

// Every way to make parts of the four groups, against what the search finds.
TEST_F(ConnectAttentionTest, IsCloseToTheBestOfAllFusions) {
  const DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  PlanOptions plan_options;
  plan_options.connect = PlanOptions::Connect::kTileGraph;
  for (const int tokens : {256, 512, 1024, 2048}) {
    const TensorGraph graph = Attention(tokens, /*transposed=*/true);
    const Plan plan = MakePlan(graph, plan_options);
    ASSERT_EQ(plan.groups.size(), 4u);
    FusionOptions evaluate;
    evaluate.least_gain = -1e9;
    const GroupEvaluator model(graph, plan, spec);
    FusionEvaluator evaluator(graph, plan, model, evaluate);
    std::map<std::vector<int>, double> estimates;
    const auto estimate = [&](const std::vector<int>& groups) {
      const auto known = estimates.find(groups);
      if (known != estimates.end()) return known->second;
      std::vector<PlanPart> parts;
      std::vector<PlanPart*> pointers;
      for (const int g : groups) parts.push_back(evaluator.Alone(g));
      for (PlanPart& part : parts) pointers.push_back(&part);
      double seconds = parts[0].cost.core_seconds;
      if (parts.size() > 1) {
        const FusionDecision decision = evaluator.Evaluate(pointers);
        seconds = decision.taken ? decision.fused.core_seconds
                                 : std::numeric_limits<double>::infinity();
      }
      return estimates[groups] = seconds;
    };
    // Group g in part of[g].
    const auto sum = [&](const std::vector<int>& of) {
      std::map<int, std::vector<int>> parts;
      for (size_t g = 0; g < of.size(); ++g)
        parts[of[g]].push_back(static_cast<int>(g));
      double seconds = 0;
      for (const auto& [part, groups] : parts) seconds += estimate(groups);
      return seconds;
    };
    double least = std::numeric_limits<double>::infinity();
    for (int code = 0; code < 256; ++code)
      least = std::min(least,
                       sum({code % 4, code / 4 % 4, code / 16 % 4, code / 64}));
    Connect(graph);
    std::vector<int> found = {0, 1, 2, 3};
    for (const Fusion& fusion : connected_.fusions) {
      for (const int g : fusion.groups) found[g] = fusion.groups[0];
    }
    // Fusions that save less than 3 % are not taken.
    EXPECT_LE(sum(found), 1.05 * least) << tokens;
  }
}

// A generator's answer about rows in one tile holds for all tiles.
TEST_F(ConnectAttentionTest, WhoseRowsDoNotFollowIsNotInBlocks) {
  std::map<std::vector<TensorId>, int> asked_in_blocks;
  ConnectPlanOptions how;
  how.evaluate.generate = [&](const Group& group,
                              const Plan&) -> absl::StatusOr<TilePlan> {
    TilePlan plan = group.tile_plan;
    if (plan.reduce_step() == 0) return plan;
    ++asked_in_blocks[group.members];
    for (StageDecision& stage : plan.stages) {
      stage.in_blocks_of = -1;
      stage.follows = false;
    }
    return plan;
  };
  const TensorGraph graph = Attention(2048, /*transposed=*/false);
  const Plan plan = Connect(graph, how);
  for (const Group& group : plan.groups)
    EXPECT_EQ(group.tile_plan.reduce_step(), 0) << ToString(plan, graph);
  EXPECT_FALSE(asked_in_blocks.empty());
  for (const auto& [members, times] : asked_in_blocks) EXPECT_EQ(times, 1);
  EXPECT_GT(connected_.tiles.unexpected, 0);
}

TEST_F(ConnectAttentionTest, OfFewTokensKeepsWholeRows) {
  const TensorGraph graph = Attention(256, /*transposed=*/false);
  const Plan plan = Connect(graph);
  ASSERT_EQ(plan.groups.size(), 1u) << ToString(plan, graph);
  EXPECT_EQ(plan.groups[0].tile_plan.reduce_step(), 0);
}

}  // namespace
}  // namespace tilewright
