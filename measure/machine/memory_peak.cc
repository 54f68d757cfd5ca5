#include "measure/machine/memory_peak.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/memory_units.h"

namespace tilewright::measure {
namespace {

// Between two looks at the clock: tens of microseconds.
constexpr int64_t kBytesPerLook = 1 << 20;

int Memcpy(char* memory, int64_t bytes) {
  std::memcpy(memory + bytes / 2, memory, static_cast<size_t>(bytes / 2));
  return memory[bytes / 2];
}

double Seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

// GB/s of `pass` repeated on every thread's part at once.
double Measure(MemoryPass pass, char* memory, int64_t part_bytes, int threads,
               double seconds) {
  const clockid_t clock =
      threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  const int64_t passes_per_look =
      std::max<int64_t>(1, kBytesPerLook / part_bytes);
  std::atomic<int> ready{0};
  std::atomic<bool> stop{false};
  std::atomic<int64_t> looks{0};
  volatile int sink = 0;
  const auto work = [&](int thread) {
    char* const part = memory + thread * part_bytes;
    sink = pass(part, part_bytes);  // warm
    ++ready;
    while (ready < threads) {  // all start together
    }
    const double start = Seconds(clock);
    int64_t done = 0;
    do {
      for (int64_t i = 0; i < passes_per_look; ++i)
        sink = pass(part, part_bytes);
      ++done;
      if (thread == 0 && Seconds(clock) - start >= seconds) stop = true;
    } while (!stop);
    looks += done;
    return Seconds(clock) - start;
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
  double elapsed = work(0);
  const double joining = Seconds(CLOCK_MONOTONIC);
  for (std::thread& other : others) other.join();
  // Others finish the look they are in.
  if (threads > 1) elapsed += Seconds(CLOCK_MONOTONIC) - joining;
  return static_cast<double>(looks * passes_per_look * part_bytes) / elapsed *
         1e-9;
}

}  // namespace

MemoryPeak::MemoryPeak(int threads, int64_t working_set_bytes)
    : threads_(threads),
      part_bytes_(
          std::max<int64_t>(
              1, (working_set_bytes / threads + kPageBytes - 1) / kPageBytes) *
          kPageBytes),
      memory_(AllocateTouched(part_bytes_ * threads)) {}

double MemoryPeak::Sample(double seconds) {
  const MemoryLoops loops = AllMemoryLoops().front();
  double best = 0;
  for (const MemoryPass pass : {loops.read, loops.copy, loops.stream}) {
    best = std::max(
        best, Measure(pass, memory_.get(), part_bytes_, threads_, seconds / 3));
  }
  best_gbytes_per_s_ = std::max(best_gbytes_per_s_, best);
  return best;
}

double MemoryPeak::SampleMemcpy(double seconds) {
  return Measure(Memcpy, memory_.get(), part_bytes_, threads_, seconds);
}

}  // namespace tilewright::measure
