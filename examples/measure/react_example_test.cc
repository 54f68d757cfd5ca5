// REACT alone, for somebody's own crawler: how many requests to keep in flight
// to a server whose answers get slower when there are too many.

#include <algorithm>

#include "gtest/gtest.h"
#include "measure/parallel/react.h"

namespace {

// Answers up to `capacity` requests at a time at full speed.
double RelativeSlowdown(int in_flight, int capacity) {
  return std::max(0.0, 1.0 - static_cast<double>(capacity) / in_flight);
}

TEST(ReactExampleTest, FindsTheCapacityOfAServerAndStaysAroundIt) {
  for (const int capacity : {1, 5, 20, 50}) {
    tilewright::measure::React react({});
    double in_flight = 0;
    constexpr int kRounds = 1000, kSettled = 100;
    for (int round = 0; round < kRounds; ++round) {
      if (round >= kSettled) in_flight += react.degree();
      react.Update(RelativeSlowdown(react.degree(), capacity), 0);
    }
    const double mean = in_flight / (kRounds - kSettled);
    EXPECT_GT(mean, 0.8 * capacity) << capacity;
    EXPECT_LT(mean, 1.2 * capacity + 1) << capacity;
  }
}

}  // namespace
