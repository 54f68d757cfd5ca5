#include "tilegraph/fuse/connect_plan.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/cost/group_cost.h"
#include "tilegraph/testing/connect_testing.h"
#include "tilegraph/testing/test_graphs.h"

namespace tilewright {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ConnectPlanTest = ConnectTest;

TEST_F(ConnectPlanTest, NarrowProductsAreJoined) {
  const TensorGraph graph = Mlp(65536, 64, 64, 64);
  const Plan plan = Connect(graph, {});
  ASSERT_EQ(plan.groups.size(), 1u);
  const Group& group = plan.groups[0];
  EXPECT_THAT(Names(graph, group.inputs), ElementsAre("A", "B", "C"));
  ASSERT_EQ(group.stages.size(), 2u);
  EXPECT_THAT(Names(graph, group.stages[0].members), ElementsAre("T", "R"));
  EXPECT_THAT(Names(graph, group.stages[1].members), ElementsAre("Y"));
  // Whole rows of the result: otherwise the first product is computed anew.
  EXPECT_EQ(group.tile_plan.tile[1], 64);
  EXPECT_LT(group.tile_plan.tile[0], 65536);
  ASSERT_EQ(connected_.decisions.size(), 1u);
  EXPECT_TRUE(connected_.decisions[0].taken);
  EXPECT_LE(connected_.decisions[0].fused.scratch_bytes, 1 << 20);
  EXPECT_EQ(connected_.decisions[0].fused.recompute, 1);
}

// Each block of rows would read all weights again (design: planning.md).
TEST_F(ConnectPlanTest, WideProductsOfFewRowsStayApart) {
  const TensorGraph graph = Mlp(128, 768, 3072, 768);
  const Plan plan = Connect(graph, {});
  EXPECT_EQ(plan.groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("longer"));
  EXPECT_THAT(Reasons(), HasSubstr("KiB more"));
  EXPECT_THAT(plan.groups[0].why, Contains(HasSubstr("not fused with Y")));
}

TEST_F(ConnectPlanTest, WhatFitsNoCacheStaysApart) {
  // A maximum takes no blocks.
  const TensorGraph graph = Mlp(4, 8, 1 << 20, 8, "Y", "max");
  EXPECT_EQ(Connect(graph, force_).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("more than a core's cache holds"));
}

// A tile of columns needs all rows of T.
TEST_F(ConnectPlanTest, TilesOfSideOutputsDoNotOverlap) {
  EXPECT_EQ(Connect(Mlp(4, 64, 1 << 18, 64, "Y, R"), force_).groups.size(), 2u);
  const GroupCost& fused = connected_.decisions[0].fused;
  EXPECT_TRUE(fused.covers);
  EXPECT_FALSE(fused.fits);
}

// Both paths from T lead to Y: all of it, or nothing.
TEST_F(ConnectPlanTest, PathsThatMeetAreJoinedTogether) {
  const TensorGraph graph =
      Products(4096, 64, {"T = A B", "U = T B'", "Y = U + T"}, "Y");
  const Plan plan = Connect(graph, force_);
  ASSERT_EQ(plan.groups.size(), 1u);
  ASSERT_EQ(plan.groups[0].stages.size(), 2u);
  EXPECT_THAT(Names(graph, plan.groups[0].stages[1].members),
              ElementsAre("U", "Y"));
}

TEST_F(ConnectPlanTest, WhatNoScheduleExpressesStaysApart) {
  force_.evaluate.generate = [](const Group& group, const Plan& plan) {
    EXPECT_EQ(group.stages.size(), 2u);
    EXPECT_TRUE(plan.layouts.count(group.stages[0].members.back()));
    return absl::UnimplementedError("not today");
  };
  EXPECT_EQ(Connect(Mlp(4096, 64, 64, 64), force_).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("no schedule for it: not today"));
}

TEST_F(ConnectPlanTest, PlansAreTheSameInEveryRun) {
  for (const ConnectSearch search :
       {ConnectSearch::kEdges, ConnectSearch::kGreedy}) {
    for (const TensorGraph& graph :
         {Mlp(65536, 64, 64, 64), TwoConvolutions()}) {
      ConnectPlanOptions options = force_;
      options.search = search;
      const std::string first = ToString(Connect(graph, options), graph);
      EXPECT_THAT(first, HasSubstr("stage"));
      EXPECT_EQ(ToString(Connect(graph, options), graph), first);
    }
  }
}

// Every way to cut a chain into parts, against what the search finds.
TEST_F(ConnectPlanTest, IsCloseToTheBestOfAllFusionsOfAChain) {
  constexpr int kGroups = 5;
  for (const int width : {32, 64, 160}) {
    const TensorGraph graph = Products(
        16384, width,
        {"T1 = T0 B", "T2 = T1 B", "T3 = T2 B", "T4 = T3 B", "T5 = T4 B"},
        "T5");
    PlanOptions plan_options;
    plan_options.connect = PlanOptions::Connect::kTileGraph;
    const Plan plan = MakePlan(graph, plan_options);
    ASSERT_EQ(plan.groups.size(), static_cast<size_t>(kGroups));
    FusionOptions evaluate;
    evaluate.least_gain = -1e9;
    const GroupEvaluator model(graph, plan, spec_);
    FusionEvaluator evaluator(graph, plan, model, evaluate);
    const auto estimate = [&](int first, int last) {
      std::vector<PlanPart> parts;
      std::vector<PlanPart*> pointers;
      for (int g = first; g <= last; ++g) parts.push_back(evaluator.Alone(g));
      for (PlanPart& part : parts) pointers.push_back(&part);
      if (first == last) return parts[0].cost.core_seconds;
      const FusionDecision decision = evaluator.Evaluate(pointers);
      return decision.taken ? decision.fused.core_seconds
                            : std::numeric_limits<double>::infinity();
    };
    std::vector<double> least = {0};  // of the first groups, by how many
    for (int end = 1; end <= kGroups; ++end) {
      least.push_back(std::numeric_limits<double>::infinity());
      for (int begin = 0; begin < end; ++begin)
        least[end] =
            std::min(least[end], least[begin] + estimate(begin, end - 1));
    }
    ConnectPlanOptions options;
    options.evaluate.least_gain = 0;
    Connect(graph, options);
    double found = 0;
    std::set<int> inside;
    for (const Fusion& fusion : connected_.fusions) {
      found += estimate(fusion.groups.front(), fusion.groups.back());
      inside.insert(fusion.groups.begin(), fusion.groups.end());
    }
    for (int g = 0; g < kGroups; ++g) {
      if (!inside.count(g)) found += estimate(g, g);
    }
    EXPECT_LE(found, 1.05 * least[kGroups]) << width;
  }
}

}  // namespace
}  // namespace tilewright
