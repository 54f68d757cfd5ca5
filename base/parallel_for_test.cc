#include "base/parallel_for.h"

#include <sched.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(ParallelForTest, EachIsDoneOnce) {
  for (const int threads : {1, 2, 7}) {
    for (const int64_t count : {0, 1, 2, 3, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<size_t>(count));
      ParallelFor(count, threads,
                  [&](int64_t i) { ++done[static_cast<size_t>(i)]; });
      for (const std::atomic<int>& one : done) EXPECT_EQ(one, 1);
    }
  }
}

TEST(ParallelForTest, OneThreadGoesInOrder) {
  std::vector<int64_t> order;
  ParallelFor(5, 1, [&](int64_t i) { order.push_back(i); });
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(ParallelForTest, WorksAtTheSameTime) {
  // Each waits for the other: one thread would never be done.
  std::atomic<int> inside{0};
  ParallelFor(2, 2, [&](int64_t) {
    ++inside;
    while (inside < 2) {
    }
  });
  EXPECT_EQ(inside, 2);
}

TEST(ParallelForTest, WhatIsThrownReachesTheCaller) {
  for (const int threads : {1, 4}) {
    std::atomic<int> begun{0};
    try {
      ParallelFor(1'000'000, threads, [&](int64_t i) {
        ++begun;
        if (i == 3) throw std::runtime_error("the third");
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()), "the third");
    }
    EXPECT_LT(begun, 1'000'000) << "the rest is left out";
  }
}

TEST(UsableCpusTest, CountsThoseThatTheProcessMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(UsableCpus(), CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(UsableCpus(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace tilewright
