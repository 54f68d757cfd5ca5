#ifndef TILEWRIGHT_BASE_CLOCK_H_
#define TILEWRIGHT_BASE_CLOCK_H_

#include <cstdint>

namespace tilewright {

// Where time comes from; injected, so that tests decide it.
class Clock {
 public:
  virtual ~Clock() = default;

  // Monotonic; its zero is arbitrary. Differences are wall time.
  virtual int64_t WallNs() = 0;
  // CPU time that the calling thread has used; differences on one thread count.
  virtual int64_t ThreadCpuNs() = 0;
  // Nanoseconds since 1970, for time stamps alone: it may jump.
  virtual int64_t UnixNs() = 0;
};

// The system's clock. Thread-safe, lives for ever.
Clock* RealClock();

// Time moves only when told. Not thread-safe.
class FakeClock : public Clock {
 public:
  explicit FakeClock(int64_t start_ns = 0)
      : wall_ns_(start_ns), unix_ns_(start_ns) {}

  int64_t WallNs() override { return wall_ns_; }
  int64_t ThreadCpuNs() override { return thread_cpu_ns_; }
  int64_t UnixNs() override { return unix_ns_; }

  // Time passes while the thread works.
  void AdvanceBusy(int64_t ns) {
    AdvanceIdle(ns);
    thread_cpu_ns_ += ns;
  }
  // Time passes while the thread waits.
  void AdvanceIdle(int64_t ns) {
    wall_ns_ += ns;
    unix_ns_ += ns;
  }

 private:
  int64_t wall_ns_;
  int64_t thread_cpu_ns_ = 0;
  int64_t unix_ns_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_CLOCK_H_
