#include "tilegraph/tiling/grow_tiles.h"

#include <set>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using Tile = std::vector<int64_t>;

const std::vector<int64_t> kSizes = {1, 2, 3, 4, 5, 6, 7, 8, 9};

// Visits in order.
class GrowTilesTest : public testing::Test {
 protected:
  template <typename Rank>
  absl::Status Grow(const GrowTilesOptions& options, Rank rank) {
    return GrowTiles(
        {kSizes, kSizes}, options,
        [&](const Tile& tile) -> absl::StatusOr<std::optional<GrowRank>> {
          EXPECT_TRUE(seen_.insert(tile).second) << "visited again";
          visits_.push_back(tile);
          return rank(tile);
        });
  }
  std::set<Tile> seen_;
  std::vector<Tile> visits_;
};

TEST_F(GrowTilesTest, AllTilesIsWhatPatienceReaches) {
  TW_ASSERT_OK(Grow({1000, 1000}, [](const Tile&) { return GrowRank(1, 1); }));
  EXPECT_EQ(visits_.size(), 81);
}

TEST_F(GrowTilesTest, TheMostPromisingGrowsFirst) {
  TW_ASSERT_OK(Grow({7, 1000}, [](const Tile& tile) {
    return GrowRank(static_cast<double>(-tile[1]), 0);
  }));
  // Along the second dimension as long as there are visits.
  EXPECT_THAT(visits_,
              ElementsAre(Tile{1, 1}, Tile{2, 1}, Tile{1, 2}, Tile{2, 2},
                          Tile{1, 3}, Tile{2, 3}, Tile{1, 4}));
}

TEST_F(GrowTilesTest, ItEndsWhenNothingBetterComes) {
  TW_ASSERT_OK(Grow({1000, 5}, [](const Tile& tile) {
    return GrowRank(static_cast<double>(tile[0] + tile[1]), 0);
  }));
  EXPECT_LT(visits_.size(), 10);
}

TEST_F(GrowTilesTest, WhatHasNoRankIsNotGrown) {
  TW_ASSERT_OK(
      Grow({1000, 1000}, [](const Tile& tile) -> std::optional<GrowRank> {
        if (tile[0] * tile[1] > 4) return std::nullopt;
        return GrowRank(0, 0);
      }));
  for (const Tile& tile : visits_) EXPECT_LE(tile[0] * tile[1], 8);
}

TEST_F(GrowTilesTest, ErrorsArePassedOn) {
  EXPECT_THAT(
      GrowTiles({kSizes}, {},
                [](const Tile&) -> absl::StatusOr<std::optional<GrowRank>> {
                  return absl::InternalError("no");
                }),
      StatusIs(absl::StatusCode::kInternal, "no"));
}

}  // namespace
}  // namespace tilewright
