#include "search/rank_in_model.h"

#include <cmath>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::search {
namespace {

using ::testing::ElementsAre;
using ::testing::Le;
using ::testing::SizeIs;

// A model of 1 ms whose winners each change its time by a share, with 0.5 % of
// noise in every run and rounds that are up to twice as slow.
class MadeUpModel : public ModelEvaluator {
 public:
  explicit MadeUpModel(std::vector<double> changes)
      : changes_(std::move(changes)) {}

  // With two threads other shares hold.
  std::vector<double> changes_with_two;
  int breaks_after = 1000;
  int comparisons = 0;

  absl::StatusOr<ModelRounds> Compare(const std::vector<bool>& tuned,
                                      int threads) override {
    if (comparisons++ >= breaks_after)
      return absl::UnavailableError("no device");
    const std::vector<double>& changes =
        threads == 2 ? changes_with_two : changes_;
    double time = 1e6;
    for (size_t i = 0; i < tuned.size(); ++i)
      time *= tuned[i] ? 1 + changes[i] : 1;
    ModelRounds rounds;
    for (int round = 0; round < 15; ++round) {
      const double slow = random_.Uniform(1, 2);
      const auto run = [&](double ns) {
        return ns * slow * (1 + 0.005 * random_.Normal());
      };
      rounds.tuned_ns.push_back(run(time));
      rounds.rules_ns.push_back(run(1e6));
    }
    return rounds;
  }

 private:
  const std::vector<double> changes_;
  Random random_{7};
};

ModelRanking Rank(MadeUpModel& model, size_t tasks,
                  const RankInModelOptions& options = {}) {
  std::vector<size_t> winners;
  for (size_t i = 0; i < tasks; ++i) winners.push_back(i);
  const auto ranking = RankInModel(tasks, winners, model, options);
  EXPECT_THAT(ranking.status(), IsOk());
  return ranking.ok() ? *ranking : ModelRanking();
}

TEST(RankInModelTest, OneComparisonKeepsWhatIsFaster) {
  MadeUpModel model({-0.05, -0.01, 0, -0.02});
  const ModelRanking ranking = Rank(model, 4);
  EXPECT_THAT(ranking.kept, ElementsAre(true, true, true, true));
  ASSERT_THAT(ranking.comparisons, SizeIs(1));
  EXPECT_NEAR(ranking.comparisons[0].ratio.median, 0.922, 0.01);
}

TEST(RankInModelTest, TheOneToBlameIsFound) {
  MadeUpModel model({-0.01, 0, -0.01, 0, 0, 0.2, 0, -0.01});
  const ModelRanking ranking = Rank(model, 8);
  EXPECT_THAT(ranking.kept,
              ElementsAre(true, true, true, true, true, false, true, true));
  EXPECT_THAT(ranking.comparisons.size(), Le(10u));
}

TEST(RankInModelTest, WithAnyNumberOfThreads) {
  MadeUpModel model({-0.1, -0.1, -0.1});
  model.changes_with_two = {-0.1, 0.4, -0.1};
  RankInModelOptions options;
  options.threads = {1, 2};
  EXPECT_THAT(Rank(model, 3, options).kept, ElementsAre(true, false, true));
}

// Two that are harmless alone, and slow together.
TEST(RankInModelTest, NothingStaysThatIsSlowerTogether) {
  class Together : public ModelEvaluator {
    absl::StatusOr<ModelRounds> Compare(const std::vector<bool>& tuned,
                                        int) override {
      const double time = tuned[0] && tuned[1] ? 120 : 99;
      return ModelRounds{std::vector<double>(9, time),
                         std::vector<double>(9, 100)};
    }
  } model;
  TW_ASSERT_OK_AND_ASSIGN(const ModelRanking ranking,
                          RankInModel(2, {1, 0}, model, {}));
  EXPECT_THAT(ranking.kept, ElementsAre(false, true));
}

TEST(RankInModelTest, WhatIsNotComparedIsDropped) {
  MadeUpModel model({0.1, 0.1, 0.1, 0.1, -0.1, 0.1, 0.1, 0.1});
  RankInModelOptions options;
  options.most_comparisons = 3;
  const ModelRanking ranking = Rank(model, 8, options);
  EXPECT_THAT(ranking.comparisons, SizeIs(Le(3u)));
  EXPECT_THAT(ranking.kept, testing::Not(testing::Contains(true)));
}

TEST(RankInModelTest, AnErrorIsTheEvaluators) {
  MadeUpModel model({0.1, 0.1});
  model.breaks_after = 1;
  EXPECT_THAT(RankInModel(2, {0, 1}, model, {}),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST(RankInModelTest, WithoutWinnersNothingIsRun) {
  MadeUpModel model({0});
  TW_ASSERT_OK_AND_ASSIGN(const ModelRanking ranking,
                          RankInModel(1, {}, model, {}));
  EXPECT_EQ(model.comparisons, 0);
  EXPECT_THAT(ranking.kept, ElementsAre(false));
}

}  // namespace
}  // namespace tilewright::search
