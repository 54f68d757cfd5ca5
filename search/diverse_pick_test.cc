#include "search/diverse_pick.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "search/candidate.h"
#include "search/space.h"
#include "search/testing/landscape.h"

namespace tilewright::search {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// The largest L of `count` of them, by trying all.
double BestDiversity(const std::vector<Candidate>& candidates,
                     const std::vector<double>& scores, int count,
                     double weight) {
  double best = 0;
  for (uint32_t set = 0; set < (1u << candidates.size()); ++set) {
    std::vector<size_t> picked;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if ((set >> i & 1) != 0) picked.push_back(i);
    }
    if (static_cast<int>(picked.size()) == count)
      best = std::max(best, Diversity(candidates, scores, weight, picked));
  }
  return best;
}

TEST(DiversePickTest, IsNearTheBestSubset) {
  Random random(3);
  double worst = 1, sum = 0;
  constexpr int kCases = 60;
  for (int i = 0; i < kCases; ++i) {
    TaskSpace space = NumberSpace({4, 3, 5});
    const std::vector<Candidate> candidates = space.DrawNew(10, {}, random);
    std::vector<double> scores;
    for (size_t k = 0; k < candidates.size(); ++k)
      scores.push_back(random.Uniform());
    const double weight = random.Uniform(0, 0.6);
    const std::vector<size_t> picked =
        PickDiverse(candidates, scores, 4, weight);
    ASSERT_THAT(picked, SizeIs(4));
    const double share = Diversity(candidates, scores, weight, picked) /
                         BestDiversity(candidates, scores, 4, weight);
    worst = std::min(worst, share);
    sum += share;
  }
  std::printf("of the largest L: at least %.3f, on average %.3f\n", worst,
              sum / kCases);
  EXPECT_GE(worst, 1 - std::exp(-1.0));
  EXPECT_GE(sum / kCases, 0.97);
  EXPECT_LE(worst, 1 + 1e-12);
}

TEST(DiversePickTest, WithoutCoverageTheBestScoresArePicked) {
  TaskSpace space = NumberSpace({9});
  Random random(1);
  const std::vector<Candidate> candidates = space.DrawNew(5, {}, random);
  EXPECT_THAT(PickDiverse(candidates, {0.1, 0.9, 0.5, 0.9, 0.2}, 3, 0),
              ElementsAre(1, 3, 2));
}

TEST(DiversePickTest, CoverageAvoidsValuesThatArePickedAlready) {
  TaskSpace space = NumberSpace({9, 9});
  std::vector<Candidate> candidates;
  for (const char* v0 : {"1", "1", "2"}) {
    candidates.push_back(*space.FromAnswers("made-up", {{"v0", v0}}));
    // The second number is 0 in all.
  }
  EXPECT_THAT(PickDiverse(candidates, {0.9, 0.8, 0.7}, 2, 0.5),
              ElementsAre(0, 2));
}

TEST(DiversePickTest, AllOfFewCandidatesArePicked) {
  TaskSpace space = NumberSpace({9});
  Random random(1);
  const std::vector<Candidate> candidates = space.DrawNew(3, {}, random);
  EXPECT_THAT(PickDiverse(candidates, {0, 0, 0}, 5, 1), SizeIs(3));
}

}  // namespace
}  // namespace tilewright::search
