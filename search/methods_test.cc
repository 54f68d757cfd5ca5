// Every method of search on made-up tasks whose best candidate is known.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "costmodel/cost_model.h"
#include "costmodel/forest_cost_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "search/annealing.h"
#include "search/annealing_chains.h"
#include "search/candidate.h"
#include "search/contextual_annealing.h"
#include "search/epsilon_greedy.h"
#include "search/evolution.h"
#include "search/grid_search.h"
#include "search/method.h"
#include "search/random_search.h"
#include "search/score_model.h"
#include "search/space.h"
#include "search/testing/landscape.h"
#include "search/tuner.h"

namespace tilewright::search {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Le;
using ::testing::SizeIs;

using costmodel::Prediction;

std::vector<int> Numbers(const Candidate& candidate) {
  return NumbersOf(candidate.schedule);
}

// A model that knows the landscape, with these variances.
Predict PredictExactly(
    Landscape landscape,
    std::function<double(const std::vector<int>&)> variance = nullptr) {
  return [=](absl::Span<const Candidate* const> candidates)
             -> absl::StatusOr<std::vector<Prediction>> {
    std::vector<Prediction> predictions;
    for (const Candidate* candidate : candidates) {
      const std::vector<int> numbers = Numbers(*candidate);
      Prediction prediction{100 / landscape(numbers), std::nullopt};
      if (variance) prediction.variance = variance(numbers);
      predictions.push_back(prediction);
    }
    return predictions;
  };
}

// A state in which nothing was measured yet.
struct Fresh {
  TaskSpace space;
  Traces visited = {};
  std::vector<Trial> trials = {};
  std::vector<Candidate> seeds = {};
  Predict predict = nullptr;
  Random random{1};
  SearchState state() {
    return {space, visited, trials, seeds, predict, random};
  }
};

void ExpectNewAndDistinct(const std::vector<Candidate>& batch,
                          const Traces& visited) {
  Traces traces = visited;
  for (const Candidate& candidate : batch)
    EXPECT_TRUE(traces.insert(candidate.trace).second);
}

std::unique_ptr<Method> MakeMethod(const std::string& name) {
  if (name == "random") return std::make_unique<RandomSearch>();
  if (name == "grid") return std::make_unique<GridSearch>();
  if (name == "evolution")
    return std::make_unique<Evolution>(EvolutionOptions());
  if (name == "evolution with crossover") {
    EvolutionOptions options;
    options.crossover = 0.3;
    return std::make_unique<Evolution>(options);
  }
  if (name == "annealing")
    return std::make_unique<Annealing>(AnnealingOptions());
  if (name == "annealing, diverse") {
    AnnealingOptions options;
    options.diversity_ratio = 2;
    return std::make_unique<Annealing>(options);
  }
  EXPECT_EQ(name, "contextual annealing");
  return std::make_unique<ContextualAnnealing>(ContextualAnnealingOptions());
}

constexpr const char* kMethods[] = {"random",
                                    "grid",
                                    "evolution",
                                    "evolution with crossover",
                                    "annealing",
                                    "annealing, diverse",
                                    "contextual annealing"};

TEST(MethodsTest, ExhaustASmallSpaceWithoutRepeating) {
  for (const char* name : kMethods) {
    SCOPED_TRACE(name);
    Fresh fresh{NumberSpace({4, 3, 2})};
    fresh.predict =
        PredictExactly(Cone({2, 2, 1}), [](const auto&) { return 0.01; });
    const std::unique_ptr<Method> method = MakeMethod(name);
    std::set<std::vector<int>> found;
    for (int round = 0; round < 60 && found.size() < 60; ++round) {
      TW_ASSERT_OK_AND_ASSIGN(const std::vector<Candidate> batch,
                              method->Propose(8, fresh.state()));
      EXPECT_THAT(batch.size(), Le(8));
      ExpectNewAndDistinct(batch, fresh.visited);
      for (const Candidate& candidate : batch) {
        fresh.visited.insert(candidate.trace);
        found.insert(Numbers(candidate));
      }
    }
    EXPECT_THAT(found, SizeIs(60));
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<Candidate> batch,
                            method->Propose(8, fresh.state()));
    EXPECT_THAT(batch, SizeIs(0));
  }
}

TEST(MethodsTest, EqualSeedsProposeEqualCandidates) {
  for (const char* name : kMethods) {
    SCOPED_TRACE(name);
    std::vector<std::vector<int>> proposed[2];
    for (auto& numbers : proposed) {
      Fresh fresh{NumberSpace({9, 9, 9})};
      fresh.predict =
          PredictExactly(Cone({2, 3, 4}), [](const auto&) { return 0.01; });
      const std::unique_ptr<Method> method = MakeMethod(name);
      for (int round = 0; round < 3; ++round) {
        TW_ASSERT_OK_AND_ASSIGN(const std::vector<Candidate> batch,
                                method->Propose(8, fresh.state()));
        for (const Candidate& candidate : batch) {
          fresh.visited.insert(candidate.trace);
          numbers.push_back(Numbers(candidate));
        }
      }
    }
    EXPECT_THAT(proposed[0], SizeIs(24));
    EXPECT_EQ(proposed[0], proposed[1]);
  }
}

TEST(GridSearchTest, VisitsEveryTableOnceInAFixedOrder) {
  Fresh fresh{NumberSpace({1, 2})};
  GridSearch grid;
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Candidate> first,
                          grid.Propose(4, fresh.state()));
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Candidate> second,
                          grid.Propose(4, fresh.state()));
  std::vector<std::vector<int>> numbers;
  for (const Candidate& candidate : first)
    numbers.push_back(Numbers(candidate));
  for (const Candidate& candidate : second)
    numbers.push_back(Numbers(candidate));
  EXPECT_THAT(numbers, ElementsAre(ElementsAre(0, 0), ElementsAre(0, 1),
                                   ElementsAre(0, 2), ElementsAre(1, 0),
                                   ElementsAre(1, 1), ElementsAre(1, 2)));
}

TEST(GridSearchTest, RefusesWhatCannotBeEnumerated) {
  Fresh fresh{NumberSpace({3, 1 << 21})};
  GridSearch grid;
  EXPECT_THAT(grid.Propose(4, fresh.state()),
              StatusIs(absl::StatusCode::kFailedPrecondition, "decision v1"));
}

TEST(EpsilonGreedyTest, TheShareOfRandomCandidatesIsEpsilon) {
  // The best ones all have v0 = 0; of random ones 1 of 1000.
  int random = 0;
  constexpr int kBatches = 400;
  Fresh fresh{NumberSpace({999, 99})};
  std::vector<Candidate> best;
  for (int i = 0; i < 10; ++i) {
    TW_ASSERT_OK_AND_ASSIGN(
        Candidate candidate,
        fresh.space.FromAnswers("made-up",
                                {{"v0", "0"}, {"v1", std::to_string(i)}}));
    best.push_back(std::move(candidate));
  }
  for (int i = 0; i < kBatches; ++i) {
    const std::vector<Candidate> batch =
        PickEpsilonGreedy(best, 8, 0.15, fresh.state());
    ASSERT_THAT(batch, SizeIs(8));
    ExpectNewAndDistinct(batch, {});
    for (const Candidate& candidate : batch)
      random += Numbers(candidate)[0] != 0 ? 1 : 0;
  }
  // 1.2 a batch: always one, and another in 1 of 5.
  EXPECT_NEAR(random / double{kBatches}, 1.2, 0.08);
}

TEST(EpsilonGreedyTest, EachMakesUpForWhatTheOtherHasNot) {
  Fresh fresh{NumberSpace({5})};
  std::vector<Candidate> all = fresh.space.DrawNew(6, {}, fresh.random);
  EXPECT_THAT(PickEpsilonGreedy({all[0]}, 6, 0, fresh.state()), SizeIs(6));
  // Nothing is left to draw but what is in `best`.
  EXPECT_THAT(PickEpsilonGreedy(all, 6, 0.5, fresh.state()), SizeIs(6));
  EXPECT_THAT(PickEpsilonGreedy(all, 9, 0.5, fresh.state()), SizeIs(6));
}

// In how many of 20 runs two walks of chains meet the best of 1,000 candidates.
int RunsThatFindTheBest(const AnnealingChainsOptions& options) {
  const Landscape landscape = Cone({6, 1, 4});
  int found = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Fresh fresh{NumberSpace({9, 9, 9})};
    fresh.random = Random(seed);
    AnnealingChains chains(options);
    const auto score = [&](absl::Span<const Candidate* const> candidates)
        -> absl::StatusOr<std::vector<double>> {
      std::vector<double> scores;
      for (const Candidate* candidate : candidates)
        scores.push_back(100 / landscape(Numbers(*candidate)));
      return scores;
    };
    double best = 0;
    for (int walk = 0; walk < 2; ++walk) {
      const auto met = chains.Walk(8, score, fresh.state());
      EXPECT_THAT(met, IsOk());
      for (size_t i = 1; i < met->size(); ++i)
        EXPECT_GE((*met)[i - 1].score, (*met)[i].score);
      best = std::max(best, met->front().score);
    }
    found += best > 0.99 ? 1 : 0;
  }
  return found;
}

TEST(AnnealingChainsTest, FindTheBestOfAKnownLandscape) {
  EXPECT_EQ(RunsThatFindTheBest(AnnealingChainsOptions::AutoTvm()), 20);
  // At a high temperature a walk is random; these look at 500 or so, again and
  // again.
  AnnealingChainsOptions hot;
  hot.first_temperature = hot.last_temperature = 100;
  const int by_chance = RunsThatFindTheBest(hot);
  const int found = RunsThatFindTheBest({});
  std::printf("the best was met in %d of 20 runs, by chance in %d\n", found,
              by_chance);
  EXPECT_GE(found, 16);
  EXPECT_GT(found, by_chance);
}

TEST(AnnealingChainsTest, AtNoTemperatureNoStepIsWorse) {
  Fresh fresh{NumberSpace({99, 99})};
  AnnealingChainsOptions options;
  options.chains = 1;
  options.steps = 200;
  options.patience = 200;
  options.first_temperature = 0;
  AnnealingChains chains(options);
  // A step changes one number of the place where the chain stands: which that
  // is shows in what is looked at next.
  std::vector<std::vector<int>> looked_at;
  const auto sum = [](const std::vector<int>& numbers) {
    return (numbers[0] + numbers[1]) / 198.0;
  };
  const auto score = [&](absl::Span<const Candidate* const> candidates)
      -> absl::StatusOr<std::vector<double>> {
    looked_at.push_back(Numbers(*candidates[0]));
    return std::vector<double>{sum(looked_at.back())};
  };
  TW_ASSERT_OK(chains.Walk(1, score, fresh.state()).status());
  ASSERT_GT(looked_at.size(), 100);
  std::vector<int> at = looked_at[0];
  for (size_t i = 1; i < looked_at.size(); ++i) {
    const std::vector<int>& next = looked_at[i];
    EXPECT_TRUE((next[0] == at[0]) != (next[1] == at[1]))
        << "no single step from the best place";
    if (sum(next) >= sum(at)) at = next;
  }
}

TEST(AnnealingChainsTest, EndWhenNothingBetterIsMet) {
  Fresh fresh{NumberSpace({999, 999})};
  AnnealingChainsOptions options;
  options.steps = 100;
  options.patience = 7;
  AnnealingChains chains(options);
  int calls = 0;
  const auto score = [&](absl::Span<const Candidate* const> candidates)
      -> absl::StatusOr<std::vector<double>> {
    ++calls;
    return std::vector<double>(candidates.size(), 0.5);
  };
  // The first places fill the list; no equal one is better.
  TW_ASSERT_OK(chains.Walk(8, score, fresh.state()).status());
  EXPECT_EQ(calls, 1 + 7);
}

TEST(ContextualAnnealingTest, EpsilonIsTheMeanDeviationOfRandomCandidates) {
  for (const double stddev : {0.0, 0.1, 0.35, 3.0}) {
    Fresh fresh{NumberSpace({99, 99})};
    fresh.predict = PredictExactly(
        Cone({50, 50}), [&](const auto&) { return stddev * stddev; });
    ContextualAnnealing method({});
    EXPECT_EQ(method.epsilon(), 0.05);
    TW_ASSERT_OK(method.Propose(16, fresh.state()).status());
    EXPECT_NEAR(method.epsilon(), std::min(stddev, 1.0), 1e-12);
  }
}

TEST(ContextualAnnealingTest, OfEqualMeansTheUncertainOnesAreProposed) {
  Fresh fresh{NumberSpace({99, 99})};
  fresh.predict = PredictExactly(
      [](const auto&) { return 200.0; },
      [](const auto& numbers) { return numbers[0] >= 90 ? 0.01 : 1e-8; });
  ContextualAnnealing method({});
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<Candidate> batch,
                          method.Propose(16, fresh.state()));
  int uncertain = 0;
  for (const Candidate& candidate : batch)
    uncertain += Numbers(candidate)[0] >= 90 ? 1 : 0;
  EXPECT_GE(uncertain, 13);  // 1.6 at random
}

TEST(ContextualAnnealingTest, NeedsVariances) {
  Fresh fresh{NumberSpace({9, 9})};
  fresh.predict = PredictExactly(Cone({5, 5}));
  ContextualAnnealing method({});
  EXPECT_THAT(method.Propose(4, fresh.state()),
              StatusIs(absl::StatusCode::kFailedPrecondition, "variances"));
}

// 96 trials of 16 on 10,000 candidates, learned by a forest: how much slower
// than the best of all the best is that was found, median of 21 seeds.
double MedianRegret(const std::string& name, const Landscape& landscape,
                    double best) {
  std::vector<double> regrets;
  for (uint64_t seed = 0; seed < 21; ++seed) {
    TaskSpace space = NumberSpace({9, 9, 9, 9});
    const std::unique_ptr<Method> method = MakeMethod(name);
    costmodel::ForestCostModelOptions forest;
    forest.forest.trees = 20;
    ScoreModel model(std::make_unique<costmodel::ForestCostModel>(forest));
    LandscapeMeasurer measurer(landscape);
    TunerOptions options;
    options.trials = 96;
    options.batch = 16;
    options.seed = seed;
    Tuner tuner({space, *method, &model, 0, measurer, {}}, options);
    EXPECT_THAT(tuner.Run(), IsOk());
    EXPECT_THAT(measurer.measured, SizeIs(96));
    regrets.push_back(tuner.best()->ns / best - 1);
  }
  std::sort(regrets.begin(), regrets.end());
  std::printf("%-26s %5.1f %%\n", name.c_str(), 100 * regrets[10]);
  return regrets[10];
}

TEST(MethodsTest, LearningMethodsBeatRandomSearch) {
  struct Case {
    const char* name;
    Landscape landscape;
  };
  const std::vector<int> best = {7, 2, 5, 8};
  for (const Case& c :
       {Case{"cone", Cone(best)}, Case{"rugged", Rugged(best, {1, 8, 1, 2})}}) {
    std::printf("%s: slower than the best by\n", c.name);
    EXPECT_EQ(c.landscape(best), 100);
    const double random = MedianRegret("random", c.landscape, 100);
    for (const char* name : kMethods) {
      const std::string method = name;
      if (method == "random" || method == "grid") continue;
      EXPECT_LT(MedianRegret(method, c.landscape, 100), 0.6 * random)
          << method << " on a " << c.name;
    }
  }
}

}  // namespace
}  // namespace tilewright::search
