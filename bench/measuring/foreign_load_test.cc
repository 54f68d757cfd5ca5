#include "bench/measuring/foreign_load.h"

#include <ctime>

#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

// Whatever others do, what this process does is not theirs: a share of all
// cores' time is left for it.
TEST(ForeignLoadTest, OwnTimeIsNotForeign) {
  const ForeignLoad load;
  const std::clock_t begin = std::clock();
  while (std::clock() - begin < CLOCKS_PER_SEC / 2) {
  }
  EXPECT_GE(load.Percent(), 0);
  EXPECT_LT(load.Percent(), 100);
}

}  // namespace
}  // namespace tilewright::bench
