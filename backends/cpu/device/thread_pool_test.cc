#include "backends/cpu/device/thread_pool.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tilewright::cpu {
namespace {

TEST(ThreadPoolTest, EveryTaskRunsExactlyOnceForAnyCounts) {
  for (int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.num_threads(), threads);
    for (int64_t tasks : {0, 1, 2, 5, 64, 1000}) {
      std::vector<std::atomic<int>> ran(tasks);
      pool.Run(tasks, [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) ++ran[i];
      });
      for (int64_t i = 0; i < tasks; ++i) EXPECT_EQ(ran[i], 1) << i;
    }
  }
}

TEST(ThreadPoolTest, AWorkerNumberIsUsedByOneThreadAtATime) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> overlapped{false};
  for (int round = 0; round < 200; ++round) {
    pool.Run(64, [&](int64_t, int64_t, int worker) {
      if (++inside[worker] != 1) overlapped = true;
      --inside[worker];
    });
  }
  EXPECT_FALSE(overlapped);
}

TEST(ThreadPoolTest, IdleThreadsTakeTasksOfASlowOne) {
  ThreadPool pool(2);
  std::atomic<bool> first_done{false};
  std::atomic<int> others{0};
  // Task 0 waits until all other tasks ran: only another thread can run them.
  pool.Run(64, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      if (i != 0) {
        ++others;
        continue;
      }
      const auto give_up =
          std::chrono::steady_clock::now() + std::chrono::seconds(20);
      // The rest of this bite is ours.
      while (others < 64 - (end - begin) &&
             std::chrono::steady_clock::now() < give_up) {
        std::this_thread::yield();
      }
      first_done = others >= 64 - (end - begin);
    }
  });
  EXPECT_TRUE(first_done);
}

TEST(ThreadPoolTest, SeveralCallersShareOnePool) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::vector<int64_t> sums(4, 0);
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 300; ++round) {
        std::atomic<int64_t> sum{0};
        pool.Run(100, [&](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i) sum += i;
        });
        sums[caller] += sum;
      }
    });
  }
  for (std::thread& thread : callers) thread.join();
  for (int64_t sum : sums) EXPECT_EQ(sum, 300 * 4950);
}

TEST(ThreadPoolTest, SleepingWorkersWakeAndPoolsStop) {
  for (int round = 0; round < 20; ++round) {
    auto pool = std::make_unique<ThreadPool>(3);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> ran{0};
    pool->Run(10, [&](int64_t begin, int64_t end, int) {
      ran += static_cast<int>(end - begin);
    });
    EXPECT_EQ(ran, 10);
  }
}

}  // namespace
}  // namespace tilewright::cpu
