// Times a run on a shared machine, as design/measuring.md asks for it.
#ifndef BENCH_ORT_TIMING_H_
#define BENCH_ORT_TIMING_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright::bench {

// One window of runs one after the other.
struct Window {
  std::vector<double> wall_ms;  // of every run
  std::vector<double> cpu_ms;   // of every run: all threads of this process
  // Share of the machine's time that went to others or was stolen, in percent.
  double foreign_percent = 0;
};

// Runs `run` for `seconds`, at least once. At least 0.2 s are needed for
// foreign_percent to mean something: the kernel counts in steps of 10 ms.
absl::StatusOr<Window> MeasureWindow(const std::function<absl::Status()>& run,
                                     double seconds);

// A window counts for a wall time if both cores were free.
inline constexpr double kQuietPercent = 5;

struct Timing {
  double min_wall_ms = 0;
  double median_wall_ms = 0;
  double min_cpu_ms = 0;
  double median_cpu_ms = 0;
  int64_t runs = 0;
  int quiet_windows = 0;
  int windows = 0;
};

// Wall times come from the quiet windows if there are any, otherwise from all
// (quiet_windows is then 0); CPU times come from all windows.
Timing Summarize(const std::vector<Window>& windows);

}  // namespace tilewright::bench

#endif  // BENCH_ORT_TIMING_H_
