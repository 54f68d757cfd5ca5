#include "measure/stats/rank_selection.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> Descending(int n) {
  std::vector<double> values;
  for (int i = n; i > 0; --i) values.push_back(i);
  return values;
}

TEST(RankSelectionTest, TheThreeBestOfFew) {
  EXPECT_THAT(SelectTopRanks({5, 1, 4, 2, 3}), ElementsAre(1, 3, 4));
}

// 1 % of 500 is 5, of 501 5.01; of 300 it is the 3 that are always taken.
TEST(RankSelectionTest, OnePercentOfMany) {
  EXPECT_THAT(SelectTopRanks(Descending(500)),
              ElementsAre(499, 498, 497, 496, 495));
  EXPECT_THAT(SelectTopRanks(Descending(501)), SizeIs(6));
  EXPECT_THAT(SelectTopRanks(Descending(300)), SizeIs(3));
  EXPECT_THAT(SelectTopRanks(Descending(301)), SizeIs(4));
}

TEST(RankSelectionTest, TenPercentAsPublished) {
  RankSelectionOptions options;
  options.share = 0.1;
  EXPECT_THAT(SelectTopRanks(Descending(70), options), SizeIs(7));
  EXPECT_THAT(SelectTopRanks(Descending(71), options), SizeIs(8));
}

TEST(RankSelectionTest, OfEqualLatenciesTheEarlierOnes) {
  EXPECT_THAT(SelectTopRanks({2, 1, 1, 1, 1}), ElementsAre(1, 2, 3));
}

TEST(RankSelectionTest, FailedCandidatesAreNeverChosen) {
  EXPECT_THAT(SelectTopRanks({kNaN, 2, kInfinity, 1}), ElementsAre(3, 1));
  EXPECT_THAT(SelectTopRanks({kNaN, kInfinity}), IsEmpty());
  EXPECT_THAT(SelectTopRanks({}), IsEmpty());
  EXPECT_THAT(SelectTopRanks({7}), ElementsAre(0));
}

}  // namespace
}  // namespace tilewright::measure
