#include "backends/cache_sim/cache_hierarchy.h"

#include <algorithm>
#include <vector>

#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright::cache_sim {
namespace {

// dram, l2 of 10 lines, l1 of 4 lines; a line is 10 bytes.
DeviceSpec SmallSpec() {
  DeviceSpec spec = *LoadSpec("unit");
  spec.mutable_levels(1)->set_capacity_bytes(100);
  spec.mutable_levels(2)->set_capacity_bytes(40);
  return spec;
}

TEST(CacheHierarchyTest, EveryLineComesInOnce) {
  CacheHierarchy caches(SmallSpec());
  for (int pass = 0; pass < 2; ++pass) {
    for (uint64_t at = 0; at < 100; at += 4) caches.Access(at, 4, false);
  }
  ASSERT_EQ(caches.crossings().size(), 2);
  EXPECT_EQ(caches.crossings()[0].outer, "dram");
  EXPECT_EQ(caches.crossings()[0].read_bytes, 100);  // all of it fits into l2
  EXPECT_EQ(caches.crossings()[1].inner, "l1");
  EXPECT_EQ(caches.crossings()[1].read_bytes, 200);  // and never stays in l1
  EXPECT_EQ(caches.crossings()[0].write_bytes, 0);
}

TEST(CacheHierarchyTest, DirtyLinesAreWrittenBackOnce) {
  CacheHierarchy caches(SmallSpec());
  for (uint64_t at = 0; at < 200; at += 10) caches.Access(at, 10, true);
  EXPECT_EQ(caches.crossings()[1].write_bytes, 160);  // 16 of 20 driven out
  caches.Flush();
  caches.Flush();
  EXPECT_EQ(caches.crossings()[1].write_bytes, 200);
  EXPECT_EQ(caches.crossings()[0].write_bytes, 200);
  EXPECT_EQ(caches.crossings()[0].read_bytes, 200);  // read for ownership
}

TEST(CacheHierarchyTest, WhatIsForgottenStays) {
  CacheHierarchy caches(SmallSpec());
  caches.Access(0, 20, true);
  caches.Forget(0, 10);
  caches.Flush();
  EXPECT_EQ(caches.crossings()[0].write_bytes, 10);
}

TEST(CacheHierarchyTest, SetsMayCollide) {
  DeviceSpec spec = SmallSpec();
  CacheHierarchy caches(spec, 1);  // l1: 4 sets of one line
  for (int pass = 0; pass < 3; ++pass) {
    caches.Access(0, 1, false);
    caches.Access(40, 1, false);  // the same set of l1, another of l2
  }
  EXPECT_EQ(caches.crossings()[1].read_bytes, 60);
  EXPECT_EQ(caches.crossings()[0].read_bytes, 20);
}

// One cache, by the definition: a vector of lines in order of use.
TEST(CacheHierarchyTest, OneLevelIsAnLruOfLines) {
  DeviceSpec spec = SmallSpec();
  spec.mutable_levels()->DeleteSubrange(2, 1);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    CacheHierarchy caches(spec);
    Random random(seed);
    struct Line {
      uint64_t number;
      bool dirty;
    };
    std::vector<Line> lines;
    int64_t read = 0, written = 0;
    for (int i = 0; i < 2000; ++i) {
      const uint64_t address = random.UniformInt(0, 250);
      const int64_t size = random.UniformInt(1, 12);
      const bool is_store = random.UniformInt(0, 3) == 0;
      caches.Access(address, size, is_store);
      for (uint64_t n = address / 10; n <= (address + size - 1) / 10; ++n) {
        auto at = std::find_if(lines.begin(), lines.end(),
                               [&](const Line& l) { return l.number == n; });
        Line line{n, is_store};
        if (at != lines.end()) {
          line.dirty |= at->dirty;
          lines.erase(at);
        } else {
          read += 10;
          if (lines.size() == 10) {
            written += lines.front().dirty ? 10 : 0;
            lines.erase(lines.begin());
          }
        }
        lines.push_back(line);
      }
    }
    EXPECT_EQ(caches.crossings()[0].read_bytes, read);
    EXPECT_EQ(caches.crossings()[0].write_bytes, written);
  }
}

}  // namespace
}  // namespace tilewright::cache_sim
