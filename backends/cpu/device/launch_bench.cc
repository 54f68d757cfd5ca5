// Measures what a launch costs beside its tasks: the thread pool with tasks
// that take a given time, launches one after the other or with gaps in which
// only the launching thread works.
//
//   launch_bench [THREADS]
//
// Prints microseconds per launch beyond the tasks' own time divided by the
// threads, minimum and median.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "backends/cpu/device/thread_pool.h"

namespace tilewright::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double Us(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

void Busy(double us) {
  const Clock::time_point start = Clock::now();
  while (Us(Clock::now() - start) < us) {
  }
}

void Measure(ThreadPool& pool, double gap_us, int64_t tasks, double task_us) {
  constexpr int kLaunches = 1000;
  const ThreadPool::Body body = [&](int64_t begin, int64_t end, int) {
    if (task_us > 0) Busy(task_us * static_cast<double>(end - begin));
  };
  std::vector<double> us;
  for (int i = 0; i < kLaunches; ++i) {
    if (gap_us > 0) Busy(gap_us);
    const Clock::time_point start = Clock::now();
    pool.Run(tasks, body);
    us.push_back(Us(Clock::now() - start) -
                 task_us * static_cast<double>(tasks) / pool.num_threads());
  }
  std::sort(us.begin(), us.end());
  std::printf("| %6.0f | %4lld | %4.0f | %7.2f | %7.2f |\n", gap_us,
              static_cast<long long>(tasks), task_us, us.front(),
              us[us.size() / 2]);
}

}  // namespace
}  // namespace tilewright::cpu

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 2;
  tilewright::cpu::ThreadPool pool(threads);
  std::printf("%d threads, us beyond the tasks' time\n\n", threads);
  std::printf("| gap us | tasks | us each | min | median |\n");
  std::printf("|---|---|---|---|---|\n");
  for (const double gap_us : {0, 20, 100, 500}) {
    for (const int tasks : {1, 2, 16, 64})
      tilewright::cpu::Measure(pool, gap_us, tasks, 0);
    tilewright::cpu::Measure(pool, gap_us, 16, 2);
  }
  return 0;
}
