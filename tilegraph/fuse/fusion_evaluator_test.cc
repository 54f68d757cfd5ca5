#include "tilegraph/fuse/fusion_evaluator.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/fuse/plan_profiler.h"
#include "tilegraph/testing/connect_testing.h"
#include "tilegraph/testing/test_graphs.h"

namespace tilewright {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Answers what the test says, and remembers what it was asked.
class FakeProfiler : public PlanProfiler {
 public:
  using Answer = std::function<absl::StatusOr<double>(const Group&)>;
  explicit FakeProfiler(Answer answer) : answer_(std::move(answer)) {}

  std::vector<absl::StatusOr<double>> OneCoreSeconds(
      const Plan& plan, absl::Span<const Group> variants) override {
    std::vector<absl::StatusOr<double>> result;
    for (const Group& variant : variants) {
      EXPECT_EQ(variant.output, variants[0].output);
      for (size_t s = 0; s + 1 < variant.stages.size(); ++s)
        EXPECT_TRUE(plan.layouts.count(variant.stages[s].members.back()));
      (variant.stages.empty() ? apart : fused).push_back(variant);
      result.push_back(answer_(variant));
    }
    return result;
  }

  absl::StatusOr<std::vector<double>> Interleaved(
      absl::Span<const GroupOfPlan>) override {
    return absl::UnavailableError("once is enough");
  }

  std::vector<Group> apart, fused;

 private:
  Answer answer_;
};

class FusionEvaluatorTest : public ConnectTest {
 protected:
  // As Connect, every group apart taking 10 ms.
  Plan ConnectProfiled(const TensorGraph& graph,
                       const FakeProfiler::Answer& fused,
                       const FusionOptions& evaluate = {}) {
    profiler_.emplace([fused](const Group& group) -> absl::StatusOr<double> {
      return group.stages.empty() ? 0.010 : fused(group);
    });
    ConnectPlanOptions options;
    options.evaluate = evaluate;
    options.evaluate.measuring.profiler = &*profiler_;
    return Connect(graph, options);
  }

  std::optional<FakeProfiler> profiler_;
};

TEST_F(FusionEvaluatorTest, WhatMeasuresFasterIsFusedInItsFastestTile) {
  const TensorGraph graph = Mlp(65536, 64, 64, 64);
  // The third one that is asked for.
  const Plan plan = ConnectProfiled(graph, [&](const Group&) {
    return profiler_->fused.size() == 3 ? 0.015 : 0.019;
  });
  ASSERT_EQ(plan.groups.size(), 1u);
  ASSERT_EQ(profiler_->apart.size(), 2u);
  ASSERT_EQ(profiler_->fused.size(), 6u);
  EXPECT_EQ(plan.groups[0].tile_plan.tile, profiler_->fused[2].tile_plan.tile);
  EXPECT_THAT(plan.groups[0].why, Contains(HasSubstr("15.000 ms")));
  const FusionDecision& decision = connected_.decisions.at(0);
  EXPECT_EQ(decision.profiled.size(), 6u);
  EXPECT_EQ(decision.fused_one_core_seconds, 0.015);
  EXPECT_EQ(decision.unfused_one_core_seconds, 0.020);
}

TEST_F(FusionEvaluatorTest,
       WhatMeasuresNoFasterStaysUnfusedWhateverTheEstimate) {
  const TensorGraph graph = Mlp(65536, 64, 64, 64);
  EXPECT_EQ(Connect(graph, {}).groups.size(), 1u);
  EXPECT_EQ(
      ConnectProfiled(graph, [](const Group&) { return 0.0199; }).groups.size(),
      2u);
  EXPECT_THAT(Reasons(), HasSubstr("saves only 1 %"));
  EXPECT_EQ(
      ConnectProfiled(graph, [](const Group&) { return 0.022; }).groups.size(),
      2u);
  EXPECT_THAT(Reasons(), HasSubstr("takes 10 % longer"));
}

TEST_F(FusionEvaluatorTest, OtherTilesAreMeasuredWhereTheFirstComeNear) {
  const TensorGraph graph = Mlp(65536, 64, 64, 64);
  for (const double seconds : {0.0205, 0.025}) {
    ConnectProfiled(graph, [&](const Group&) { return seconds; });
    EXPECT_EQ(profiler_->fused.size(), seconds < 0.022 ? 6u : 2u);
  }
}

TEST_F(FusionEvaluatorTest, WhatTheEstimateThinksNeutralIsMeasured) {
  const TensorGraph graph = Mlp(512, 256, 256, 256);
  ASSERT_EQ(Connect(graph, {}).groups.size(), 2u);
  EXPECT_EQ(
      ConnectProfiled(graph, [](const Group&) { return 0.010; }).groups.size(),
      1u);
}

TEST_F(FusionEvaluatorTest, WhatTheEstimateThinksFarWorseIsNotMeasured) {
  const TensorGraph graph = Mlp(16, 2048, 2048, 2048);
  EXPECT_EQ(
      ConnectProfiled(graph, [](const Group&) { return 0.001; }).groups.size(),
      2u);
  EXPECT_TRUE(profiler_->fused.empty());
  EXPECT_TRUE(profiler_->apart.empty());
  EXPECT_THAT(Reasons(), HasSubstr("longer"));
}

TEST_F(FusionEvaluatorTest, CandidatesThatFailAreLeftOut) {
  const TensorGraph graph = Mlp(65536, 64, 64, 64);
  const Plan plan =
      ConnectProfiled(graph, [&](const Group&) -> absl::StatusOr<double> {
        if (profiler_->fused.size() != 2)
          return absl::InternalError("wrong results");
        return 0.012;
      });
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].tile_plan.tile, profiler_->fused[1].tile_plan.tile);
  EXPECT_EQ(connected_.decisions.at(0)
                .profiled[0]
                .one_core_seconds.status()
                .message(),
            "wrong results");

  EXPECT_EQ(ConnectProfiled(graph,
                            [](const Group&) -> absl::StatusOr<double> {
                              return absl::InternalError("signal 11");
                            })
                .groups.size(),
            2u);
  EXPECT_THAT(Reasons(), HasSubstr("no kernel for it: signal 11"));
}

TEST_F(FusionEvaluatorTest, TheFastestThatIsRightIsTaken) {
  const TensorGraph graph = Mlp(65536, 64, 64, 64);
  // Slower each time, the first `wrong` of them wrong.
  const auto answer = [&](size_t wrong) {
    return [this, wrong](const Group&) -> absl::StatusOr<double> {
      const size_t asked = profiler_->fused.size();
      if (asked <= wrong) return absl::InternalError("wrong results");
      return 0.010 + 0.002 * static_cast<double>(asked);
    };
  };
  const Plan plan = ConnectProfiled(graph, answer(2));
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].tile_plan.tile, profiler_->fused[2].tile_plan.tile);
  EXPECT_EQ(profiler_->fused.size(), 6u);
  // 0.020 and more save nothing.
  EXPECT_EQ(ConnectProfiled(graph, answer(4)).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("saves only 0 %"));
  EXPECT_EQ(ConnectProfiled(graph, answer(6)).groups.size(), 2u);
  EXPECT_THAT(Reasons(), HasSubstr("no kernel for it: wrong results"));
}

TEST_F(FusionEvaluatorTest, WhatHasNoScheduleIsNotMeasured) {
  FusionOptions evaluate;
  std::optional<std::vector<int64_t>> first;
  evaluate.generate = [&](const Group& group,
                          const Plan&) -> absl::StatusOr<TilePlan> {
    if (!first) first = group.tile_plan.tile;
    if (group.tile_plan.tile == *first)
      return absl::UnimplementedError("not today");
    return group.tile_plan;
  };
  const Plan plan = ConnectProfiled(
      Mlp(65536, 64, 64, 64), [](const Group&) { return 0.010; }, evaluate);
  EXPECT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(profiler_->fused.size(), 5u);
}

// Decisions of generators count, not those expected of them.
TEST_F(FusionEvaluatorTest, TilesAreWeighedAsTheyAreGenerated) {
  const TensorGraph graph = Mlp(65536, 64, 64, 64);
  for (const bool all : {false, true}) {
    std::optional<std::vector<int64_t>> first;
    ConnectPlanOptions options = force_;
    options.evaluate.generate = [&](const Group& group,
                                    const Plan&) -> absl::StatusOr<TilePlan> {
      TilePlan plan = group.tile_plan;
      if (!first) first = plan.tile;
      if (all || plan.tile == *first)
        plan.stages[0].scratch_bytes = int64_t{1} << 30;
      return plan;
    };
    const Plan plan = Connect(graph, options);
    ASSERT_EQ(plan.groups.size(), all ? 2u : 1u);
    if (all) {
      EXPECT_THAT(Reasons(), HasSubstr("as generated it keeps 1048"));
    } else {
      EXPECT_NE(plan.groups[0].tile_plan.tile, *first);
      EXPECT_TRUE(plan.groups[0].tile_plan.generated);
    }
  }
}

TEST_F(FusionEvaluatorTest,
       APartThatIsWrongIsNotFusedOneThatIsUnknownIsByEstimate) {
  for (const bool wrong : {true, false}) {
    FakeProfiler profiler([&](const Group& group) -> absl::StatusOr<double> {
      if (!group.stages.empty()) return 1.0;
      return wrong ? absl::InternalError("signal 11")
                   : absl::UnavailableError("no workers");
    });
    ConnectPlanOptions options;
    options.evaluate.measuring.profiler = &profiler;
    EXPECT_EQ(Connect(Mlp(65536, 64, 64, 64), options).groups.size(),
              wrong ? 2u : 1u);
    if (wrong) {
      EXPECT_THAT(Reasons(), HasSubstr("R apart: signal 11"));
      EXPECT_TRUE(profiler.fused.empty());
    }
  }
}

TEST_F(FusionEvaluatorTest, WhatIsNotKnownOfBothSidesIsDecidedByTheEstimate) {
  const auto not_known = absl::NotFoundError("no record");
  const TensorGraph cheaper = Mlp(65536, 64, 64, 64),
                    neutral = Mlp(512, 256, 256, 256);
  for (const bool parts_are_known : {true, false}) {
    FakeProfiler profiler([&](const Group& group) -> absl::StatusOr<double> {
      // One side alone, and that much slower or faster.
      if (group.stages.empty() != parts_are_known) return not_known;
      return group.stages.empty() ? 1e-9 : 1.0;
    });
    ConnectPlanOptions options;
    options.evaluate.measuring.profiler = &profiler;
    EXPECT_EQ(ToString(Connect(cheaper, options), cheaper),
              ToString(Connect(cheaper, {}), cheaper));
    EXPECT_EQ(Connect(neutral, options).groups.size(), 2u);
    EXPECT_FALSE(Reasons().empty());
  }
}

TEST_F(FusionEvaluatorTest, OfTilesThoseThatAreKnownAreCompared) {
  const Plan plan = ConnectProfiled(
      Mlp(65536, 64, 64, 64), [&](const Group&) -> absl::StatusOr<double> {
        if (profiler_->fused.size() != 4)
          return absl::NotFoundError("no record");
        return 0.015;
      });
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].tile_plan.tile, profiler_->fused[3].tile_plan.tile);
}

TEST_F(FusionEvaluatorTest, WhatIsKnownToBeWrongIsNotTakenByTheEstimate) {
  // The best by estimate is wrong, nothing is known of the others.
  const Plan plan = ConnectProfiled(
      Mlp(65536, 64, 64, 64), [&](const Group&) -> absl::StatusOr<double> {
        if (profiler_->fused.size() == 1)
          return absl::InternalError("wrong results");
        return absl::NotFoundError("no record");
      });
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].tile_plan.tile, profiler_->fused[1].tile_plan.tile);
}

TEST_F(FusionEvaluatorTest, EqualGroupsAreMeasuredOnce) {
  const Plan plan = ConnectProfiled(
      Products(65536, 64, {"T = A B", "Y = T B", "U = C B", "Z = U B"}, "Y, Z"),
      [](const Group&) { return 0.015; });
  EXPECT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(profiler_->fused.size(), 6u);
  // All four are one kernel.
  EXPECT_LE(profiler_->apart.size(), 2u);
}

TEST_F(FusionEvaluatorTest, WhatComesAfterTheLastMeasurementIsByEstimate) {
  FusionOptions evaluate;
  evaluate.measuring.most_measured = 4;
  const TensorGraph graph = Mlp(65536, 64, 64, 64);
  EXPECT_EQ(ConnectProfiled(
                graph, [](const Group&) { return 0.025; }, evaluate)
                .groups.size(),
            2u);
  EXPECT_EQ(profiler_->apart.size() + profiler_->fused.size(), 4u);
  evaluate.measuring.most_measured = 1;
  EXPECT_EQ(ToString(ConnectProfiled(
                         graph, [](const Group&) { return 0.025; }, evaluate),
                     graph),
            ToString(Connect(graph, {}), graph));
}

}  // namespace
}  // namespace tilewright
