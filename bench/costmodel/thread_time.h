// CPU time of the calling thread.
#ifndef TILEWRIGHT_BENCH_COSTMODEL_THREAD_TIME_H_
#define TILEWRIGHT_BENCH_COSTMODEL_THREAD_TIME_H_

#include <time.h>

#include <utility>

namespace tilewright::bench {

inline double ThreadNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 +
         static_cast<double>(now.tv_nsec);
}

// Returns the result of `work`; its time is added to `total_ns`.
template <typename Work>
auto Timed(double& total_ns, Work&& work) {
  const double begin_ns = ThreadNs();
  auto result = std::forward<Work>(work)();
  total_ns += ThreadNs() - begin_ns;
  return result;
}

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_COSTMODEL_THREAD_TIME_H_
