#include "measure/machine/memory_loops.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace tilewright::measure {
namespace {

constexpr int64_t kBytes = 8192;

TEST(MemoryLoopsTest, EveryLoopTouchesAllItSays) {
  const auto memory = AllocateTouched(2 * kBytes);
  for (const MemoryLoops& loops : AllMemoryLoops()) {
    SCOPED_TRACE(loops.instructions);
    // One bit anywhere is seen: reads or their results are not left out.
    for (int64_t at = 0; at < kBytes; at += 16) {
      std::memset(memory.get(), 0, kBytes);
      memory.get()[at] = static_cast<char>(0x80);
      EXPECT_NE(loops.read(memory.get(), kBytes), 0) << at;
    }
    std::memset(memory.get(), 0, 2 * kBytes);
    loops.write(memory.get(), kBytes);
    EXPECT_EQ(std::count(memory.get(), memory.get() + 2 * kBytes, 1), kBytes);
    for (const MemoryPass pass : {loops.copy, loops.stream}) {
      for (int64_t i = 0; i < 2 * kBytes; ++i) {
        memory.get()[i] = static_cast<char>(i * 7 + i / 256);
      }
      const std::string before(memory.get(), 2 * kBytes);
      pass(memory.get(), kBytes);
      const std::string half = before.substr(0, kBytes / 2);
      EXPECT_EQ(std::string(memory.get(), kBytes), half + half);
      EXPECT_EQ(std::string(memory.get() + kBytes, kBytes),
                before.substr(kBytes));
    }
  }
}

TEST(MemoryLoopsTest, TheNarrowestIsAlwaysThere) {
  EXPECT_EQ(AllMemoryLoops().back().instructions, "SSE2");
}

TEST(MemoryLoopsTest, AChaseIsOneCircleOverAllLines) {
  const auto memory = AllocateTouched(kBytes);
  PrepareChase(memory.get(), kBytes, 3);
  std::set<const char*> seen;
  const char* at = memory.get();
  for (int64_t i = 0; i < kBytes / 64; ++i) {
    EXPECT_TRUE(seen.insert(at).second);
    EXPECT_EQ((at - memory.get()) % 64, 0);
    at = Chase(at, 1);
  }
  EXPECT_EQ(at, memory.get());
  EXPECT_EQ(Chase(at, 5 * kBytes / 64), memory.get());
}

}  // namespace
}  // namespace tilewright::measure
