// Times a run on a shared machine, as design/measuring.md asks for it.
#ifndef BENCH_ORT_TIMING_H_
#define BENCH_ORT_TIMING_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure/machine/steady_core.h"

namespace tilewright::bench {

// Runs one after the other.
struct Window {
  std::vector<double> wall_ms;  // of every run
  std::vector<double> cpu_ms;   // of every run: all threads of this process
  std::vector<bool> quiet;      // whether nobody disturbed it
};

// Runs `run` for `seconds`, at least once. With one thread `core` is this
// one's: a run is quiet if the core was steady before and after it, and is
// waited for where it was not. With several threads it is null: all runs are
// quiet if less than 5 % of the machine's time went to others or was stolen;
// that needs 0.2 s to mean something, since the system counts in steps of 10
// ms, and does not see who shares a physical core.
absl::StatusOr<Window> MeasureWindow(const std::function<absl::Status()>& run,
                                     double seconds, measure::SteadyCore* core);

// The wall time of the quiet runs.
double QuietSeconds(const std::vector<Window>& windows);

struct Timing {
  double min_wall_ms = 0;
  double median_wall_ms = 0;
  double min_cpu_ms = 0;
  double median_cpu_ms = 0;
  int64_t runs = 0;
  int64_t quiet_runs = 0;
};

// Of the quiet runs if there are any, otherwise of all (quiet_runs is then 0).
Timing Summarize(const std::vector<Window>& windows);

}  // namespace tilewright::bench

#endif  // BENCH_ORT_TIMING_H_
