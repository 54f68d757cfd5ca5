#include "measure/machine/steady_core.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "measure/machine/memory_loops.h"

namespace tilewright::measure {
namespace {

// More than a first-level cache, and within any second-level one.
constexpr int64_t kReadBytes = 128 << 10;
constexpr int kPasses = 64;

}  // namespace

void ReadSecondLevelCache() {
  static const MemoryPass read = AllMemoryLoops().front().read;
  static char* const memory = AllocateTouched(kReadBytes).release();
  volatile int sink = 0;
  for (int pass = 0; pass < kPasses; ++pass) sink = read(memory, kReadBytes);
  (void)sink;
}

SteadyCore::SteadyCore(std::function<void()> work, Clock& clock,
                       std::function<void(int64_t)> sleep,
                       const SteadyCoreOptions& options)
    : work_(std::move(work)),
      clock_(clock),
      sleep_(std::move(sleep)),
      options_(options) {}

SteadyCore SteadyCore::OfThisThread(std::function<void()> work) {
  return SteadyCore(std::move(work), *RealClock(), [](int64_t ns) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
  });
}

bool SteadyCore::IsSteady() {
  for (int look = 0; look < options_.looks; ++look) {
    const int64_t start_ns = clock_.ThreadCpuNs();
    work_();
    const auto took_ns = static_cast<double>(clock_.ThreadCpuNs() - start_ns);
    least_ns_ = std::min(least_ns_, took_ns);
    if (took_ns <= options_.tolerance * least_ns_) return true;
  }
  return false;
}

void SteadyCore::Wait() {
  const int64_t start_ns = clock_.WallNs();
  const bool first = !began_ns_;
  if (first) began_ns_ = start_ns;
  const auto had_enough = [&] {
    const int64_t now_ns = clock_.WallNs();
    const int64_t waiting_ns = now_ns - start_ns;
    return waiting_ns >= options_.most_wait_ns ||
           (!first &&
            static_cast<double>(waited_ns_ + waiting_ns) >
                options_.most_share * static_cast<double>(now_ns - *began_ns_));
  };
  bool steady = IsSteady();
  while ((first || !steady) && !had_enough()) {
    sleep_(options_.pause_ns);
    steady = IsSteady();
  }
  if (!steady) least_ns_ *= options_.forgets;
  if (!first) waited_ns_ += clock_.WallNs() - start_ns;
}

}  // namespace tilewright::measure
