#include "bench/ort/timing.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"

namespace tilewright::bench {
namespace {

// Of the machine's time, in a window that is quiet.
constexpr double kMostForeign = 0.05;
// Runs that are shorter share a look at the core.
constexpr double kLookSeconds = 1e-3;

double Seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * now.tv_nsec;
}

// The times that /proc/stat has for all cores together, in seconds.
struct MachineTime {
  double busy = 0;  // including stolen
  double total = 0;
};

MachineTime ReadMachineTime() {
  std::ifstream file("/proc/stat");
  std::string label;
  file >> label;
  // user nice system idle iowait irq softirq steal; what follows (guest) is
  // already part of user.
  MachineTime time;
  for (int column = 0; column < 8; ++column) {
    double ticks = 0;
    file >> ticks;
    const double seconds = ticks / sysconf(_SC_CLK_TCK);
    time.total += seconds;
    if (column != 3 && column != 4) time.busy += seconds;
  }
  return time;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  if (values.size() % 2 == 1) return values[middle];
  const double upper = values[middle];
  return (upper + *std::max_element(values.begin(), values.begin() + middle)) /
         2;
}

double Minimum(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

}  // namespace

absl::StatusOr<Window> MeasureWindow(const std::function<absl::Status()>& run,
                                     double seconds,
                                     measure::SteadyCore* core) {
  Window window;
  bool steady = true;
  if (core != nullptr) {
    core->Wait();
    steady = core->IsSteady();
  }
  const MachineTime before = ReadMachineTime();
  const double cpu_before = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  const double start = Seconds(CLOCK_MONOTONIC);
  double looked = start;
  double now = start;
  double cpu = cpu_before;
  do {
    TW_RETURN_IF_ERROR(run());
    const double wall_after = Seconds(CLOCK_MONOTONIC);
    const double cpu_after = Seconds(CLOCK_PROCESS_CPUTIME_ID);
    window.wall_ms.push_back((wall_after - now) * 1e3);
    window.cpu_ms.push_back((cpu_after - cpu) * 1e3);
    now = wall_after;
    cpu = cpu_after;
    if (core == nullptr ||
        (now - looked < kLookSeconds && now - start < seconds))
      continue;
    const bool was_steady = std::exchange(steady, core->IsSteady());
    window.quiet.resize(window.wall_ms.size(), was_steady && steady);
    if (!steady) {
      core->Wait();
      steady = core->IsSteady();
    }
    now = looked = Seconds(CLOCK_MONOTONIC);
    cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  } while (now - start < seconds);
  if (core == nullptr) {
    const MachineTime after = ReadMachineTime();
    const double total = after.total - before.total;
    const double foreign = after.busy - before.busy - (cpu - cpu_before);
    window.quiet.resize(window.wall_ms.size(), foreign <= kMostForeign * total);
  }
  return window;
}

double QuietSeconds(const std::vector<Window>& windows) {
  double seconds = 0;
  for (const Window& window : windows) {
    for (size_t i = 0; i < window.wall_ms.size(); ++i) {
      if (window.quiet[i]) seconds += window.wall_ms[i] * 1e-3;
    }
  }
  return seconds;
}

Timing Summarize(const std::vector<Window>& windows) {
  std::vector<double> wall, cpu, quiet_wall, quiet_cpu;
  for (const Window& window : windows) {
    for (size_t i = 0; i < window.wall_ms.size(); ++i) {
      wall.push_back(window.wall_ms[i]);
      cpu.push_back(window.cpu_ms[i]);
      if (!window.quiet[i]) continue;
      quiet_wall.push_back(window.wall_ms[i]);
      quiet_cpu.push_back(window.cpu_ms[i]);
    }
  }
  Timing timing;
  timing.runs = static_cast<int64_t>(wall.size());
  timing.quiet_runs = static_cast<int64_t>(quiet_wall.size());
  if (timing.quiet_runs > 0) {
    wall = std::move(quiet_wall);
    cpu = std::move(quiet_cpu);
  }
  timing.min_wall_ms = Minimum(wall);
  timing.median_wall_ms = Median(wall);
  timing.min_cpu_ms = Minimum(cpu);
  timing.median_cpu_ms = Median(cpu);
  return timing;
}

}  // namespace tilewright::bench
