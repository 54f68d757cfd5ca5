#include "backends/lowering/lanes/block_access.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

// A value per lane: the element it holds. kNothing: untouched memory.
constexpr int64_t kNothing = -1;
using Vectors = std::vector<std::vector<int64_t>>;

Vectors Move(const LaneMoves& moves, Vectors values) {
  for (const LaneMoves::Step& step : moves.steps) {
    std::vector<int64_t> both = values.at(step.a);
    both.insert(both.end(), values.at(step.b).begin(), values.at(step.b).end());
    std::vector<int64_t> result;
    for (int lane : step.lanes) result.push_back(both.at(lane));
    values.push_back(std::move(result));
  }
  Vectors results;
  for (int result : moves.results) results.push_back(values.at(result));
  return results;
}

void ExpectLoads(const BlockAccess& access, const BlockOffsets& offsets) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (const auto& row : offsets) {
    for (const auto& offset : row) {
      if (!offset) continue;
      low = std::min(low, *offset);
      high = std::max(high, *offset);
    }
  }
  Vectors pieces;
  for (const BlockAccess::Piece& piece : access.pieces) {
    EXPECT_GE(piece.offset, low);
    EXPECT_LE(piece.offset + piece.active - 1, high);
    pieces.emplace_back(access.lanes, kNothing);
    for (int i = 0; i < piece.active; ++i) pieces.back()[i] = piece.offset + i;
  }
  const Vectors got = Move(access.moves, std::move(pieces));
  ASSERT_EQ(got.size(), offsets.size());
  for (size_t row = 0; row < offsets.size(); ++row) {
    ASSERT_EQ(got[row].size(), offsets[row].size());
    for (size_t i = 0; i < got[row].size(); ++i) {
      if (offsets[row][i]) EXPECT_EQ(got[row][i], *offsets[row][i]);
    }
  }
}

void ExpectStores(const BlockAccess& access, const BlockOffsets& offsets) {
  Vectors block;
  std::set<int64_t> wanted, stored;
  for (const auto& row : offsets) {
    block.emplace_back();
    for (const auto& offset : row) {
      block.back().push_back(offset.value_or(kNothing));
      if (offset) wanted.insert(*offset);
    }
  }
  const Vectors pieces = Move(access.moves, std::move(block));
  ASSERT_EQ(pieces.size(), access.pieces.size());
  for (size_t p = 0; p < pieces.size(); ++p) {
    ASSERT_EQ(static_cast<int>(pieces[p].size()), access.lanes);
    for (int i = 0; i < access.pieces[p].active; ++i) {
      EXPECT_EQ(pieces[p][i], access.pieces[p].offset + i);
      EXPECT_TRUE(stored.insert(access.pieces[p].offset + i).second);
    }
  }
  EXPECT_EQ(stored, wanted);
}

int LoadCost(const BlockOffsets& offsets, int64_t bytes, int lanes) {
  const auto access = PlanBlockLoad(offsets, bytes, lanes);
  EXPECT_TRUE(access.has_value());
  if (!access) return -1;
  ExpectLoads(*access, offsets);
  return access->cost();
}
int StoreCost(const BlockOffsets& offsets, int64_t bytes, int lanes) {
  const auto access = PlanBlockStore(offsets, bytes, lanes);
  EXPECT_TRUE(access.has_value());
  if (!access) return -1;
  ExpectStores(*access, offsets);
  return access->cost();
}

TEST(BlockAccessTest, TransposedBlocks) {
  EXPECT_EQ(LoadCost(StridedBlock(16, 16, 16, 1, 1000), 4, 16), 16 + 64);
  EXPECT_EQ(StoreCost(StridedBlock(16, 16, 16, 1, 1000), 4, 16), 16 + 64);
  EXPECT_EQ(LoadCost(StridedBlock(8, 8, 8, 1, 49), 4, 8), 8 + 24);
  // Vectors of eight in memory for vectors of sixteen.
  EXPECT_EQ(LoadCost(StridedBlock(8, 16, 16, 1, 49), 4, 16), 16 + 8 + 24);
  EXPECT_EQ(StoreCost(StridedBlock(8, 16, 16, 1, 49), 4, 16), 16 + 24 + 16);
}

TEST(BlockAccessTest, EdgesOfTransposedBlocks) {
  for (int rows = 2; rows <= 16; ++rows) {
    for (int active = 1; active <= 16; ++active) {
      LoadCost(StridedBlock(rows, 16, active, 1, 100), 4, 16);
      StoreCost(StridedBlock(rows, 16, active, 1, 100), 4, 16);
    }
  }
}

TEST(BlockAccessTest, StridesTakeOneLoadPerUnitAndJoinThem) {
  for (int stride : {2, 3, 4})
    EXPECT_EQ(LoadCost(StridedBlock(1, 16, 16, 0, stride), 4, 16),
              stride + stride - 1);
  // 16 elements from 0, 20, 40 and 60 on.
  EXPECT_EQ(LoadCost(StridedBlock(1, 16, 16, 0, 5), 4, 16), 4 + 3);
  EXPECT_EQ(LoadCost(StridedBlock(1, 16, 16, 0, -1), 4, 16), 1 + 1);
  EXPECT_EQ(LoadCost(StridedBlock(1, 8, 5, 0, 2), 4, 8), 2 + 1);
}

TEST(BlockAccessTest, InterleavedRows) {
  EXPECT_EQ(StoreCost(StridedBlock(2, 16, 16, 1, 2), 4, 16), 2 + 2);
  EXPECT_EQ(StoreCost(StridedBlock(3, 16, 16, 1, 3), 4, 16), 3 + 6);
  EXPECT_EQ(LoadCost(StridedBlock(3, 16, 16, 1, 3), 4, 16), 3 + 6);
  EXPECT_EQ(LoadCost(StridedBlock(4, 16, 16, 1, 4), 4, 16), 4 + 8);
}

TEST(BlockAccessTest, RepeatedElementsAreLoadedOnce) {
  BlockOffsets doubled(1);
  for (int i = 0; i < 16; ++i) doubled[0].push_back(i / 2);
  EXPECT_EQ(LoadCost(doubled, 4, 16), 2);
  EXPECT_FALSE(PlanBlockStore(doubled, 4, 16).has_value());
}

TEST(BlockAccessTest, ScatteredElementsHaveNoVectors) {
  EXPECT_FALSE(
      PlanBlockStore(StridedBlock(1, 16, 16, 0, 2), 4, 16).has_value());
  EXPECT_FALSE(
      PlanBlockLoad(BlockOffsets(1, {std::nullopt, std::nullopt}), 4, 16)
          .has_value());
}

TEST(BlockAccessTest, AnyBlock) {
  Random random(3);
  for (int round = 0; round < 3000; ++round) {
    const int rows = static_cast<int>(random.UniformInt(1, 6));
    const int lanes = 1 << random.UniformInt(1, 4);
    const int64_t spread = random.UniformInt(1, 200);
    BlockOffsets offsets(rows, std::vector<std::optional<int64_t>>(lanes));
    for (auto& row : offsets) {
      for (auto& offset : row) {
        if (random.Bernoulli(0.9)) offset = random.UniformInt(-spread, spread);
      }
    }
    if (const auto load = PlanBlockLoad(offsets, 4, 16))
      ExpectLoads(*load, offsets);
    // Distinct elements: any order of a range with holes.
    std::vector<int64_t> places;
    for (int64_t at = 0; static_cast<int>(places.size()) < rows * lanes; ++at) {
      if (random.Bernoulli(0.8)) places.push_back(at);
    }
    random.Shuffle(absl::MakeSpan(places));
    for (auto& row : offsets) {
      for (auto& offset : row) {
        offset = places.back();
        places.pop_back();
      }
    }
    if (const auto store = PlanBlockStore(offsets, 4, 16))
      ExpectStores(*store, offsets);
  }
}

}  // namespace
}  // namespace tilewright::lowering
