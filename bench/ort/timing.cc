#include "bench/ort/timing.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright::bench {
namespace {

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
                                     double seconds) {
  Window window;
  const MachineTime before = ReadMachineTime();
  const double own_before = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  const double start = Seconds(CLOCK_MONOTONIC);
  double now = start;
  double cpu = own_before;
  do {
    absl::Status status = run();
    if (!status.ok()) return status;
    const double wall_after = Seconds(CLOCK_MONOTONIC);
    const double cpu_after = Seconds(CLOCK_PROCESS_CPUTIME_ID);
    window.wall_ms.push_back((wall_after - now) * 1e3);
    window.cpu_ms.push_back((cpu_after - cpu) * 1e3);
    now = wall_after;
    cpu = cpu_after;
  } while (now - start < seconds);
  const MachineTime after = ReadMachineTime();
  const double total = after.total - before.total;
  const double foreign = after.busy - before.busy - (cpu - own_before);
  if (total > 0) {
    window.foreign_percent = std::max(0.0, 100 * foreign / total);
  }
  return window;
}

Timing Summarize(const std::vector<Window>& windows) {
  Timing timing;
  std::vector<double> all_wall, quiet_wall, cpu;
  for (const Window& window : windows) {
    ++timing.windows;
    timing.runs += static_cast<int64_t>(window.wall_ms.size());
    cpu.insert(cpu.end(), window.cpu_ms.begin(), window.cpu_ms.end());
    all_wall.insert(all_wall.end(), window.wall_ms.begin(),
                    window.wall_ms.end());
    if (window.foreign_percent < kQuietPercent) {
      ++timing.quiet_windows;
      quiet_wall.insert(quiet_wall.end(), window.wall_ms.begin(),
                        window.wall_ms.end());
    }
  }
  const std::vector<double>& wall = quiet_wall.empty() ? all_wall : quiet_wall;
  timing.min_wall_ms = Minimum(wall);
  timing.median_wall_ms = Median(wall);
  timing.min_cpu_ms = Minimum(cpu);
  timing.median_cpu_ms = Median(cpu);
  return timing;
}

}  // namespace tilewright::bench
