#include "frontends/onnx/ops/selection/top_k_rounds.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(TopKRoundsTest, EveryRoundTakesWhatTheOneBeforeLeaves) {
  for (const int64_t extent : {1, 31, 600, 8400, 50257, 1000000}) {
    for (const int64_t count : {1, 5, 50, 300, 4000}) {
      if (count > extent) continue;
      int64_t left = extent;
      const std::vector<TopKRound> rounds = TopKRounds(extent, count);
      for (const TopKRound& round : rounds) {
        EXPECT_EQ(round.extent, left);
        EXPECT_GE(round.blocks() * round.block, left);
        EXPECT_LT((round.blocks() - 1) * round.block, left);
        EXPECT_GE(round.block, count);
        left = round.blocks() * count;
      }
      EXPECT_EQ(rounds.back().blocks(), 1);
      EXPECT_EQ(left, count);
      EXPECT_LE(Comparisons(rounds, count), extent * (extent + count));
    }
  }
}

TEST(TopKRoundsTest, ShortRowsAreSortedAtOnce) {
  EXPECT_EQ(TopKRounds(80, 3).size(), 1u);
  EXPECT_EQ(Comparisons(TopKRounds(80, 3), 3), 80 * 83);
}

TEST(TopKRoundsTest, FewOfALongRowNeedFewComparisons) {
  EXPECT_LT(Comparisons(TopKRounds(50257, 50), 50), 50257 * 50257LL / 100);
  EXPECT_LT(Comparisons(TopKRounds(8400, 300), 300), 8400 * 8400LL / 3);
  // Half of a row leaves no round to win.
  EXPECT_EQ(TopKRounds(8000, 4000).size(), 1u);
}

}  // namespace
}  // namespace tilewright
