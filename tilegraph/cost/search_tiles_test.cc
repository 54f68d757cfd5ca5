#include "tilegraph/cost/search_tiles.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using Tile = std::vector<int64_t>;

const std::vector<int64_t> kSizes = {1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(DividingSizesTest, SizesDivideOrAreWhole) {
  EXPECT_THAT(DividingSizes(12, 1), ElementsAre(1, 2, 3, 4, 6, 12));
  EXPECT_THAT(DividingSizes(13, 1), ElementsAre(1, 2, 4, 8, 13));
  EXPECT_THAT(DividingSizes(48, 16), ElementsAre(16, 48));
  EXPECT_THAT(DividingSizes(40, 16), ElementsAre(40));
  // As many steps as the root of an extent, which may be 2^34.
  EXPECT_THAT(DividingSizes(int64_t{1} << 34, 1), SizeIs(35));
}

TEST(DividingSizesTest, AreAllThatThereAre) {
  for (const int64_t multiple : {1, 3, 4}) {
    for (int64_t extent = 1; extent <= 200; ++extent) {
      std::vector<int64_t> dividing;
      for (const int64_t size : DividingSizes(extent, multiple)) {
        if (extent % size == 0 && (size % multiple == 0 || size == extent))
          dividing.push_back(size);
      }
      std::vector<int64_t> expected;
      for (int64_t size = 1; size <= extent; ++size) {
        if (extent % size == 0 && (size % multiple == 0 || size == extent))
          expected.push_back(size);
      }
      EXPECT_EQ(dividing, expected) << extent << " by " << multiple;
    }
  }
}

TEST(RowSizesTest, LongDimensionsHaveSizesThatRegisterTilesDivide) {
  // Nothing but divisors where it is short, or they are good.
  EXPECT_EQ(RowSizes(64), DividingSizes(64, 1));
  EXPECT_THAT(RowSizes(196), ElementsAre(1, 2, 4, 7, 12, 14, 28, 49, 98, 196));
  EXPECT_EQ(RowSizes(6 * 1024), DividingSizes(6 * 1024, 1));
  const std::vector<int64_t> sizes = RowSizes(65536);
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
  for (const int64_t good : {12, 384, 504, 672, 1008, 1344, 2016})
    EXPECT_EQ(std::count(sizes.begin(), sizes.end(), good), 1) << good;
  for (const int64_t size : sizes) {
    EXPECT_TRUE(65536 % size == 0 || (size % 6 == 0 && 16 * size <= 65536))
        << size;
  }
}

// Visits in order.
class SearchTilesTest : public testing::Test {
 protected:
  template <typename Rank>
  absl::Status Search(const SearchTilesOptions& options, Rank rank,
                      const std::vector<Tile>& starts = {{1, 1}}) {
    return SearchTiles(
        {kSizes, kSizes}, starts, options,
        [&](const Tile& tile) -> absl::StatusOr<std::optional<TileRank>> {
          EXPECT_TRUE(seen_.insert(tile).second) << "visited again";
          visits_.push_back(tile);
          return rank(tile);
        });
  }
  std::set<Tile> seen_;
  std::vector<Tile> visits_;
};

TEST_F(SearchTilesTest, AllTilesIsWhatPatienceReaches) {
  TW_ASSERT_OK(
      Search({1000, 1000}, [](const Tile&) { return TileRank(1, 1); }));
  EXPECT_EQ(visits_.size(), 81);
}

TEST_F(SearchTilesTest, TheMostPromisingIsLeftFirst) {
  TW_ASSERT_OK(Search({7, 1000}, [](const Tile& tile) {
    return TileRank(static_cast<double>(-tile[1]), 0);
  }));
  // Along the second dimension as long as there are visits.
  EXPECT_THAT(visits_,
              ElementsAre(Tile{1, 1}, Tile{2, 1}, Tile{1, 2}, Tile{2, 2},
                          Tile{1, 3}, Tile{2, 3}, Tile{1, 4}));
}

TEST_F(SearchTilesTest, ItEndsWhenNothingBetterComes) {
  TW_ASSERT_OK(Search({1000, 5}, [](const Tile& tile) {
    return TileRank(static_cast<double>(tile[0] + tile[1]), 0);
  }));
  EXPECT_LT(visits_.size(), 10);
}

TEST_F(SearchTilesTest, EveryStartHasItsOwnPatience) {
  // Two valleys; the way from the first into the second leads over all of it.
  const auto rank = [](const Tile& tile) {
    const double to_high = std::abs(static_cast<double>(tile[0]) - 9);
    const double to_low = std::abs(static_cast<double>(tile[0]) - 1);
    return TileRank(std::min(to_high, to_low + 0.5), 0);
  };
  TW_ASSERT_OK(Search({1000, 3}, rank));
  EXPECT_EQ(seen_.count({9, 9}), 0u);
  TW_ASSERT_OK(SearchTiles(
      {kSizes, kSizes}, {{1, 1}, {9, 9}}, {1000, 3},
      [&](const Tile& tile) -> absl::StatusOr<std::optional<TileRank>> {
        seen_.insert(tile);
        return rank(tile);
      }));
  EXPECT_EQ(seen_.count({9, 9}), 1u);
}

TEST_F(SearchTilesTest, WhatHasNoRankIsNotLeft) {
  TW_ASSERT_OK(
      Search({1000, 1000}, [](const Tile& tile) -> std::optional<TileRank> {
        if (tile[0] * tile[1] > 4) return std::nullopt;
        return TileRank(0, 0);
      }));
  for (const Tile& tile : visits_) EXPECT_LE(tile[0] * tile[1], 8);
}

// The valley runs diagonally: one dimension alone leads no further.
TEST_F(SearchTilesTest, ReachesTheLowestAlongDiagonals) {
  std::vector<int64_t> sizes;
  for (int64_t size = 1; size <= 64; ++size) sizes.push_back(size);
  Tile lowest;
  double least = 1e9;
  TW_ASSERT_OK(SearchTiles(
      {sizes, sizes}, {{1, 1}}, {10000, 8},
      [&](const Tile& tile) -> absl::StatusOr<std::optional<TileRank>> {
        const double a = static_cast<double>(tile[0]);
        const double b = static_cast<double>(tile[1]);
        const double rank = 10 * std::abs(a + b - 40) + std::abs(a - 31);
        if (rank < least) least = rank, lowest = tile;
        return TileRank{rank, 0};
      }));
  EXPECT_THAT(lowest, ElementsAre(31, 9));
}

TEST_F(SearchTilesTest, ErrorsArePassedOn) {
  EXPECT_THAT(
      SearchTiles({kSizes}, {{1}}, {},
                  [](const Tile&) -> absl::StatusOr<std::optional<TileRank>> {
                    return absl::InternalError("no");
                  }),
      StatusIs(absl::StatusCode::kInternal, "no"));
}

}  // namespace
}  // namespace tilewright
