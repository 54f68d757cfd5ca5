#include "tilegraph/gpu/hardware/warp_access.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

// Lane i at i * stride.
WarpAccess Strided(int64_t lanes, int64_t stride_bytes, int64_t bytes,
                   int64_t first = 0) {
  WarpAccess access;
  access.bytes = bytes;
  for (int64_t i = 0; i < lanes; ++i)
    access.offset_bytes.push_back(first + i * stride_bytes);
  return access;
}

TEST(SectorsTest, ByHand) {
  // 32 lanes of 4 bytes side by side: a line of 128 bytes in 4 sectors.
  EXPECT_EQ(Sectors(Strided(32, 4, 4), 32), 4);
  EXPECT_EQ(Sectors(Strided(32, 4, 4), 128), 1);
  // Off by one element: a fifth.
  EXPECT_EQ(Sectors(Strided(32, 4, 4, 4), 32), 5);
  // Every other element: twice as many; from 32 bytes on, one a lane.
  EXPECT_EQ(Sectors(Strided(32, 8, 4), 32), 8);
  EXPECT_EQ(Sectors(Strided(32, 32, 4), 32), 32);
  // float4 a lane.
  EXPECT_EQ(Sectors(Strided(32, 16, 16), 32), 16);
  // All the same.
  EXPECT_EQ(Sectors(Strided(32, 0, 4), 32), 1);
}

TEST(BankPassesTest, ByHand) {
  const Banks banks;
  EXPECT_EQ(BankPasses(Strided(32, 4, 4), banks), 1);
  EXPECT_EQ(BankPasses(Strided(32, 0, 4), banks), 1);  // broadcast
  // Strides in words of 2, 4, ..., 32: so many lanes meet in a bank.
  for (const int64_t words : {2, 4, 8, 16, 32})
    EXPECT_EQ(BankPasses(Strided(32, 4 * words, 4), banks), words);
  EXPECT_EQ(BankPasses(Strided(32, 4 * 33, 4), banks), 1);
  // 16 bytes a lane: four groups of eight.
  EXPECT_EQ(BankPasses(Strided(32, 16, 16), banks), 4);
  EXPECT_EQ(LeastBankPasses(Strided(32, 16, 16), banks), 4);
  // Rows of 64 bytes, a lane each: a group's eight rows begin in two places, so
  // four meet; rows of 80 bytes do not.
  EXPECT_EQ(BankPasses(Strided(32, 64, 16), banks), 16);
  EXPECT_EQ(BankPasses(Strided(32, 80, 16), banks), 4);
  // A wave of 64 lanes takes two turns.
  EXPECT_EQ(BankPasses(Strided(64, 4, 4), banks), 2);
}

// The definition, bank by bank: in each turn every bank serves one word.
int64_t PassesBySimulation(const WarpAccess& access, const Banks& banks) {
  const size_t group = std::min<int64_t>(
      banks.count, banks.count * banks.width_bytes / access.bytes);
  int64_t turns = 0;
  for (size_t first = 0; first < access.offset_bytes.size(); first += group) {
    std::map<int64_t, std::set<int64_t>> waiting;  // words, by bank
    const size_t end = std::min(first + group, access.offset_bytes.size());
    for (size_t lane = first; lane < end; ++lane) {
      if (access.offset_bytes[lane] == WarpAccess::kIdle) continue;
      for (int64_t byte = 0; byte < access.bytes; ++byte) {
        const int64_t word =
            (access.offset_bytes[lane] + byte) / banks.width_bytes;
        waiting[word % banks.count].insert(word);
      }
    }
    for (bool served = true; served;) {
      served = false;
      for (auto& [bank, words] : waiting) {
        if (words.empty()) continue;
        words.erase(words.begin());
        served = true;
      }
      turns += served;
    }
  }
  return turns;
}

TEST(WarpAccessTest, RandomLanesAsTheyAreCountedOneByOne) {
  Random random(3);
  for (int i = 0; i < 3000; ++i) {
    WarpAccess access;
    access.bytes = int64_t{1} << random.UniformInt(0, 4);
    const int64_t lanes = random.Bernoulli(0.5) ? 32 : 64;
    for (int64_t lane = 0; lane < lanes; ++lane)
      access.offset_bytes.push_back(random.UniformInt(0, 7) == 0
                                        ? WarpAccess::kIdle
                                        : access.bytes *
                                              random.UniformInt(0, 299));
    const Banks banks;
    EXPECT_EQ(BankPasses(access, banks), PassesBySimulation(access, banks));
    EXPECT_GE(BankPasses(access, banks), LeastBankPasses(access, banks));
    std::set<int64_t> sectors;
    for (const int64_t offset : access.offset_bytes) {
      for (int64_t b = 0; b < access.bytes && offset >= 0; ++b)
        sectors.insert((offset + b) / 32);
    }
    EXPECT_EQ(Sectors(access, 32), sectors.size());
  }
}

}  // namespace
}  // namespace tilewright
