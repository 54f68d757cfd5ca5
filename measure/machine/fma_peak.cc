#include "measure/machine/fma_peak.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "measure/machine/peak_loops.h"

namespace tilewright::measure {
namespace {

double Seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double FmaPeak::Sample(double seconds) {
  const PeakLoop loop = PeakLoops(most_vector_bytes_).front();
  const clockid_t clock =
      threads_ == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  std::atomic<int64_t> batches{0};
  std::atomic<int> ready{0};
  std::atomic<bool> stop{false};
  volatile float sink = 0;
  const auto work = [&] {
    ++ready;
    while (ready < threads_) {  // all start together
    }
    int64_t done = 0;
    for (; !stop; ++done) sink = loop.batch();
    batches += done;
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads_; ++t) others.emplace_back(work);
  ++ready;
  while (ready < threads_) {
  }
  const double start = Seconds(clock);
  double elapsed = 0;
  int64_t own = 0;
  for (; elapsed < seconds; ++own) {
    sink = loop.batch();
    elapsed = Seconds(clock) - start;
  }
  stop = true;
  for (std::thread& other : others) other.join();
  // Batches that others finished after the clock was read are few: one each.
  const double flops = loop.ops_per_batch * static_cast<double>(batches + own);
  const double gflops =
      flops / (threads_ == 1 ? elapsed : Seconds(clock) - start) * 1e-9;
  best_gflops_ = std::max(best_gflops_, gflops);
  return gflops;
}

double FmaPeak::Best(int samples) {
  for (int i = 0; i < samples; ++i) Sample();
  return best_gflops_;
}

std::string FmaPeakInstructions(int most_vector_bytes) {
  return PeakLoops(most_vector_bytes).front().instructions;
}

}  // namespace tilewright::measure
