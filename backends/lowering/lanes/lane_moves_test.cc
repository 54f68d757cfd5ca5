#include "backends/lowering/lanes/lane_moves.h"

#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

using Wanted = std::vector<std::vector<LanePlace>>;

// Runs the steps on vectors whose lanes hold their own place, and compares.
void ExpectMoved(const LaneMoves& moves, int given, int given_lanes,
                 const Wanted& wanted) {
  std::vector<std::vector<int>> values;
  for (int v = 0; v < given; ++v) {
    values.emplace_back();
    for (int i = 0; i < given_lanes; ++i)
      values.back().push_back(v * given_lanes + i);
  }
  for (const LaneMoves::Step& step : moves.steps) {
    ASSERT_LT(step.a, static_cast<int>(values.size()));
    ASSERT_LT(step.b, static_cast<int>(values.size()));
    ASSERT_EQ(values[step.a].size(), values[step.b].size());
    std::vector<int> both = values[step.a];
    both.insert(both.end(), values[step.b].begin(), values[step.b].end());
    std::vector<int> result;
    for (int lane : step.lanes) {
      ASSERT_TRUE(lane >= 0 && lane < static_cast<int>(both.size()));
      result.push_back(both[lane]);
    }
    values.push_back(std::move(result));
  }
  ASSERT_EQ(moves.results.size(), wanted.size());
  for (size_t w = 0; w < wanted.size(); ++w) {
    const std::vector<int>& got = values.at(moves.results[w]);
    ASSERT_EQ(got.size(), wanted[w].size());
    for (size_t i = 0; i < got.size(); ++i) {
      const LanePlace place = wanted[w][i];
      if (place.vector < 0) continue;
      EXPECT_EQ(got[i], place.vector * given_lanes + place.lane)
          << "vector " << w << " lane " << i;
    }
  }
}

int StepsFor(int given, int given_lanes, int64_t element_bytes,
             const Wanted& wanted) {
  const LaneMoves moves =
      PlanLaneMoves(given, given_lanes, element_bytes, wanted);
  ExpectMoved(moves, given, given_lanes, wanted);
  return static_cast<int>(moves.steps.size());
}

// rows vectors of `lanes`: wanted[p][i] = given[i][p].
Wanted Transposed(int rows, int lanes, int width) {
  Wanted wanted(rows, std::vector<LanePlace>(width));
  for (int p = 0; p < rows; ++p) {
    for (int i = 0; i < lanes; ++i) wanted[p][i] = {i, p};
  }
  return wanted;
}

TEST(LaneMovesTest, TransposingTakesLog2StagesForEveryElementSize) {
  for (int64_t bytes : {1, 2, 4, 8}) {
    EXPECT_EQ(StepsFor(16, 16, bytes, Transposed(16, 16, 16)), 64) << bytes;
    EXPECT_EQ(StepsFor(8, 8, bytes, Transposed(8, 8, 8)), 24) << bytes;
    EXPECT_EQ(StepsFor(4, 4, bytes, Transposed(4, 4, 4)), 8) << bytes;
    EXPECT_EQ(StepsFor(2, 2, bytes, Transposed(2, 2, 2)), 2) << bytes;
  }
}

TEST(LaneMovesTest, NarrowVectorsAreJoinedBeforeAndSplitAfter) {
  // 16 vectors of 8 into 8 of 16: joined in pairs, three stages.
  EXPECT_EQ(StepsFor(16, 8, 4, Transposed(8, 16, 16)), 8 + 24);
  EXPECT_EQ(StepsFor(32, 16, 2, Transposed(16, 32, 32)), 16 + 64);
  // And back.
  EXPECT_EQ(StepsFor(8, 16, 4, Transposed(16, 8, 8)), 24 + 16);
}

TEST(LaneMovesTest, StagesOfWholePartsInterleaveHalves) {
  // The first of a 4 x 4 transposition of 32 bits: unpack low, unpack high.
  const LaneMoves moves = PlanLaneMoves(4, 4, 4, Transposed(4, 4, 4));
  EXPECT_EQ(moves.steps[0].lanes, (std::vector<int>{0, 4, 1, 5}));
  EXPECT_EQ(moves.steps[1].lanes, (std::vector<int>{2, 6, 3, 7}));
}

TEST(LaneMovesTest, MissingRowsAndLanesCostNoMore) {
  for (int rows = 1; rows <= 16; ++rows) {
    for (int lanes = 1; lanes <= 16; ++lanes) {
      const int steps = StepsFor(lanes, 16, 4, Transposed(rows, lanes, 16));
      EXPECT_LE(steps, 64) << rows << " x " << lanes;
    }
  }
}

// Vectors of rows interleaved: element i of row p goes to i * rows + p.
Wanted Interleaved(int rows, int lanes) {
  Wanted wanted(rows, std::vector<LanePlace>(lanes));
  for (int p = 0; p < rows; ++p) {
    for (int i = 0; i < lanes; ++i) {
      const int at = i * rows + p;
      wanted[at / lanes][at % lanes] = {p, i};
    }
  }
  return wanted;
}
Wanted Deinterleaved(int rows, int lanes) {
  Wanted wanted(rows, std::vector<LanePlace>(lanes));
  for (int p = 0; p < rows; ++p) {
    for (int i = 0; i < lanes; ++i)
      wanted[p][i] = {(i * rows + p) / lanes, (i * rows + p) % lanes};
  }
  return wanted;
}

TEST(LaneMovesTest, Interleaving) {
  EXPECT_EQ(StepsFor(2, 16, 4, Interleaved(2, 16)), 2);
  EXPECT_EQ(StepsFor(4, 16, 4, Interleaved(4, 16)), 8);
  EXPECT_EQ(StepsFor(8, 16, 4, Interleaved(8, 16)), 24);
  EXPECT_EQ(StepsFor(3, 16, 4, Interleaved(3, 16)), 6);
  EXPECT_EQ(StepsFor(2, 16, 4, Deinterleaved(2, 16)), 2);
  EXPECT_EQ(StepsFor(4, 8, 4, Deinterleaved(4, 8)), 8);
  EXPECT_EQ(StepsFor(3, 16, 4, Deinterleaved(3, 16)), 6);
}

TEST(LaneMovesTest, VectorsThatStandAlreadyTakeNoStep) {
  Wanted wanted(2, std::vector<LanePlace>(4));
  for (int i = 0; i < 4; ++i) wanted[0][i] = {1, i};
  wanted[1][2] = {0, 2};
  EXPECT_EQ(StepsFor(2, 4, 4, wanted), 0);
}

TEST(LaneMovesTest, OneVectorReadTwiceAndReversed) {
  Wanted wanted(2, std::vector<LanePlace>(8));
  for (int i = 0; i < 8; ++i) {
    wanted[0][i] = {0, i / 2};
    wanted[1][i] = {0, 7 - i};
  }
  EXPECT_EQ(StepsFor(1, 8, 4, wanted), 2);
}

TEST(LaneMovesTest, AnyMove) {
  Random random(5);
  for (int round = 0; round < 3000; ++round) {
    const int given = static_cast<int>(random.UniformInt(1, 9));
    const int given_lanes = 1 << random.UniformInt(0, 4);
    const int count = static_cast<int>(random.UniformInt(1, 9));
    const int width = 1 << random.UniformInt(0, 4);
    const bool few = random.Bernoulli(0.5);
    Wanted wanted(count, std::vector<LanePlace>(width));
    for (auto& vector : wanted) {
      for (LanePlace& place : vector) {
        if (random.Bernoulli(0.2)) continue;
        place.vector =
            static_cast<int>(random.UniformInt(0, few ? given / 3 : given - 1));
        place.lane = static_cast<int>(random.UniformInt(0, given_lanes - 1));
      }
    }
    StepsFor(given, given_lanes, 4, wanted);
  }
}

// Any permutation of address bits, vectors of other sizes given than wanted,
// some of them missing.
TEST(LaneMovesTest, AnyPermutationOfBits) {
  Random random(6);
  for (int round = 0; round < 2000; ++round) {
    const int bits = static_cast<int>(random.UniformInt(1, 8));
    const int given_bits = static_cast<int>(random.UniformInt(0, bits));
    const int wanted_bits = static_cast<int>(random.UniformInt(0, bits));
    std::vector<int> order(bits);
    for (int i = 0; i < bits; ++i) order[i] = i;
    for (int i = bits - 1; i > 0; --i)
      std::swap(order[i], order[random.Index(static_cast<size_t>(i + 1))]);
    int given = 1 << (bits - given_bits);
    if (random.Bernoulli(0.5))
      given = static_cast<int>(random.UniformInt(1, given));
    Wanted wanted(size_t{1} << (bits - wanted_bits),
                  std::vector<LanePlace>(size_t{1} << wanted_bits));
    for (int at = 0; at < 1 << bits; ++at) {
      int from = 0;
      for (int i = 0; i < bits; ++i) from |= (at >> i & 1) << order[i];
      if (from >> given_bits >= given) continue;
      wanted[at >> wanted_bits][at & ((1 << wanted_bits) - 1)] = {
          from >> given_bits, from & ((1 << given_bits) - 1)};
    }
    StepsFor(given, 1 << given_bits, 4, wanted);
  }
}

}  // namespace
}  // namespace tilewright::lowering
