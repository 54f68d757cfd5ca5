#include "tilegraph/gpu/hardware/thread_tile.h"

#include <set>
#include <utility>

#include "base/ceil_div.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

TEST(ThreadTileTest, SquareThreadTilesForProducts) {
  // [64, 64] of a product by 256 threads: 16 elements each; 4 by 4 loads 8
  // operands a term, 2 by 8 ten, 1 by 16 seventeen.
  const ThreadWork product = {{64, 64}, 32, 4, {0b01, 0b10}};
  const ThreadTile tile = BestThreadTile(product, 256, 32);
  EXPECT_THAT(tile.elements, ElementsAre(4, 4));
  EXPECT_THAT(tile.threads, ElementsAre(16, 16));
  EXPECT_EQ(tile.vector, 4);
  EXPECT_EQ(tile.serial(product), 16 * 32);
  EXPECT_EQ(tile.loads(product), 8 * 32);
}

TEST(ThreadTileTest, MapsAreCoalesced) {
  // A row of 128 f32: vectors of 16 bytes, a warp stores 512 bytes at once.
  const ThreadWork map = {{16, 128}, 1, 4, {0b11}};
  const ThreadTile tile = BestThreadTile(map, 128, 32);
  EXPECT_EQ(tile.elements_per_thread(), 16);
  EXPECT_EQ(tile.vector, 4);
  EXPECT_GE(tile.threads[1] * tile.vector * 4, 32);
}

TEST(ThreadTileTest, WarpsShareRowsWhereThereAreFewElements) {
  // Sums of 16 rows of 128 by 128 threads: 8 threads a row, 16 terms each.
  const ThreadWork rows = {{16}, 128, 4, {0b1}};
  const ThreadTile tile = BestThreadTile(rows, 128, 32);
  EXPECT_THAT(tile.threads, ElementsAre(16));
  EXPECT_EQ(tile.reduce_threads, 8);
  EXPECT_EQ(tile.serial(rows), 16);
  // A single row: a warp, no more.
  EXPECT_EQ(BestThreadTile({{1}, 4096, 4, {0b1}}, 128, 32).reduce_threads, 32);
}

TEST(ThreadTileTest, EveryElementHasAThreadAndNoneIsIdleWithoutNeed) {
  Random random(13);
  for (int i = 0; i < 300; ++i) {
    ThreadWork work;
    int64_t elements = 1;
    for (int64_t rank = random.UniformInt(1, 3); rank > 0; --rank) {
      work.extents.push_back(random.UniformInt(1, 20));
      elements *= work.extents.back();
    }
    work.terms = random.UniformInt(1, 40);
    work.loads = {static_cast<uint32_t>(random.UniformInt(0, 7)),
                  static_cast<uint32_t>(random.UniformInt(0, 7))};
    const int64_t threads = 32 * random.UniformInt(1, 8);
    const ThreadTile tile = BestThreadTile(work, threads, 32);
    int64_t used = tile.reduce_threads;
    for (const int64_t t : tile.threads) used *= t;
    EXPECT_LE(used, threads);
    EXPECT_GE(tile.serial(work) * threads, elements * work.terms);
    for (size_t d = 0; d < work.extents.size(); ++d)
      EXPECT_GE(tile.threads[d] * tile.elements[d], work.extents[d]);
    if (tile.reduce_threads > 1) EXPECT_EQ(tile.elements_per_thread(), 1);
    // First elements of different threads differ, but for those that share one.
    std::multiset<std::vector<int64_t>> first;
    for (int64_t thread = 0; thread < threads; ++thread) {
      const auto at = FirstElement(tile, work.extents, thread);
      if (!at.empty()) first.insert(at);
    }
    for (const auto& at : first)
      EXPECT_EQ(first.count(at), tile.reduce_threads);
    // All ways to cut one dimension: none has fewer serial terms.
    if (work.extents.size() == 1) {
      for (int64_t own = 1; own <= threads; ++own) {
        if (threads % own != 0) continue;
        const int64_t serial = (work.extents[0] + own - 1) / own * work.terms;
        EXPECT_LE(tile.serial(work), serial);
      }
    }
  }
}

// Of two dimensions, by terms, then loads.
TEST(ThreadTileTest, NoWayToDivideTheThreadsIsBetter) {
  Random random(14);
  for (int i = 0; i < 500; ++i) {
    ThreadWork work;
    work.extents = {random.UniformInt(1, 40), random.UniformInt(1, 40)};
    work.terms = random.UniformInt(1, 40);
    work.loads = {0b01, 0b10, 0b11};
    const int64_t threads = 32 * random.UniformInt(1, 8);
    const auto rank = [&](const ThreadTile& tile) {
      return std::make_pair(tile.serial(work), tile.loads(work));
    };
    const auto best = rank(BestThreadTile(work, threads, 32));
    const auto most = [](int64_t extent) {  // the next power of two
      int64_t threads = 1;
      while (threads < extent) threads *= 2;
      return threads;
    };
    bool reached = false;
    for (int64_t a = 1; a <= threads; ++a) {
      for (int64_t b = 1; a * b <= threads; ++b) {
        if (threads % (a * b) != 0 || a > most(work.extents[0]) ||
            b > most(work.extents[1]))
          continue;
        ThreadTile tile;
        tile.threads = {a, b};
        tile.elements = {CeilDiv(work.extents[0], a),
                         CeilDiv(work.extents[1], b)};
        while (tile.elements_per_thread() == 1 && tile.reduce_threads < 32 &&
               tile.reduce_threads < work.terms &&
               threads / (a * b) % (2 * tile.reduce_threads) == 0)
          tile.reduce_threads *= 2;
        EXPECT_LE(best, rank(tile));
        reached |= best == rank(tile);
      }
    }
    EXPECT_TRUE(reached);
  }
}

}  // namespace
}  // namespace tilewright
