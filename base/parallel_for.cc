#include "base/parallel_for.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewright {

void ParallelFor(int64_t count, int threads,
                 const std::function<void(int64_t)>& body) {
  std::atomic<int64_t> next{0};
  std::mutex mutex;  // guards what was thrown
  std::exception_ptr thrown;
  int64_t thrower = count;
  const auto work = [&] {
    for (int64_t i; (i = next++) < count;) {
      try {
        body(i);
      } catch (...) {
        next = count;
        const std::lock_guard<std::mutex> lock(mutex);
        if (i < thrower) thrown = std::current_exception();
        thrower = std::min(thrower, i);
      }
    }
  };
  std::vector<std::thread> others;
  try {
    while (static_cast<int64_t>(others.size()) + 1 <
           std::min<int64_t>(threads, count))
      others.emplace_back(work);
  } catch (const std::exception&) {
    // No more threads, or no memory for them: those that there are do it.
  }
  work();
  for (std::thread& other : others) other.join();
  if (thrown) std::rethrow_exception(thrown);
}

int UsableCpus() {
  cpu_set_t allowed;
  const int cpus = sched_getaffinity(0, sizeof(allowed), &allowed) == 0
                       ? CPU_COUNT(&allowed)
                       : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, cpus);
}

}  // namespace tilewright
