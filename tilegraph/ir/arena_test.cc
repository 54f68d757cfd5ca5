#include "tilegraph/ir/arena.h"

#include <algorithm>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(ArenaTest, BuffersThatNeverMeetShareMemory) {
  const BufferPlacement placement =
      PlaceBuffers({{100, 0, 1}, {100, 2, 3}, {100, 4, 4}});
  EXPECT_EQ(placement.arena_bytes, 128);
}

TEST(ArenaTest, TheSmallestGapThatFitsIsTaken) {
  // Both large buffers stay; after the two middle ones die there is a gap of
  // 256 and one of 128 bytes.
  const BufferPlacement placement = PlaceBuffers({{1024, 0, 9},
                                                  {256, 0, 1},
                                                  {512, 0, 9},
                                                  {128, 0, 1},
                                                  {64, 2, 2},
                                                  {200, 2, 2}});
  EXPECT_EQ(placement.arena_bytes, 1024 + 512 + 256 + 128);
}

TEST(ArenaTest, TheLeastIsWhatIsAliveAtOnce) {
  EXPECT_EQ(LeastArenaBytes({{100, 0, 2}, {30, 1, 1}, {50, 2, 4}, {60, 3, 3}}),
            150);
}

TEST(ArenaTest, NothingNeedsNothing) {
  EXPECT_EQ(LeastArenaBytes({}), 0);
  EXPECT_EQ(PlaceBuffers({}).arena_bytes, 0);
}

TEST(ArenaTest, RandomBuffersThatMeetNeverOverlapAndWasteLittle) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<BufferLifetime> buffers;
    for (int i = 0; i < 30; ++i) {
      const int first = static_cast<int>(random.UniformInt(0, 40));
      buffers.push_back({random.UniformInt(1, 5000), first,
                         first + static_cast<int>(random.UniformInt(0, 10))});
    }
    const BufferPlacement placement = PlaceBuffers(buffers);
    int64_t needed = 0;
    for (int step = 0; step <= 50; ++step) {
      int64_t alive = 0;
      for (const BufferLifetime& buffer : buffers)
        alive += buffer.first <= step && step <= buffer.last
                     ? buffer.size_bytes + 63
                     : 0;
      needed = std::max(needed, alive);
    }
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(placement.offset_bytes[a] % 64, 0);
      EXPECT_LE(placement.offset_bytes[a] + buffers[a].size_bytes,
                placement.arena_bytes);
      for (size_t b = 0; b < a; ++b) {
        if (buffers[a].first > buffers[b].last ||
            buffers[b].first > buffers[a].last)
          continue;
        const bool apart = placement.offset_bytes[a] + buffers[a].size_bytes <=
                               placement.offset_bytes[b] ||
                           placement.offset_bytes[b] + buffers[b].size_bytes <=
                               placement.offset_bytes[a];
        EXPECT_TRUE(apart) << round << ": " << a << " and " << b;
      }
    }
    EXPECT_LE(placement.arena_bytes, 2 * needed) << round;
    EXPECT_LE(LeastArenaBytes(buffers), placement.arena_bytes) << round;
  }
}

}  // namespace
}  // namespace tilewright
