// How long the way from a workload to its verified block tree takes.
#ifndef TILEWRIGHT_BENCH_DECISIONS_PLANNING_TIME_H_
#define TILEWRIGHT_BENCH_DECISIONS_PLANNING_TIME_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "base/clock.h"
#include "compiler/kernels/group_workload.h"

namespace tilewright::bench {

struct PlanningTime {
  std::string workload;   // what to call it
  std::string generator;  // its family's
  // CPU time, each the median of all runs.
  double generate_ns = 0, replay_ns = 0, verify_ns = 0;
  double all_ns() const { return generate_ns + replay_ns + verify_ns; }
};

// Times the schedule that its first generator prefers: deciding, replaying and
// verifying it, `runs` times on this thread. The error of whichever fails.
// REQUIRES: runs >= 1.
absl::StatusOr<PlanningTime> TimePlanning(const std::string& name,
                                          const GroupWorkload& workload,
                                          const DeviceSpec& spec, int runs,
                                          Clock* clock);

// Markdown: a row for each generator, in alphabetical order, and one for all:
// how many, the average, median and slowest time, and the averages of its
// parts, in ms. REQUIRES: not empty.
std::string PlanningTable(const std::vector<PlanningTime>& times);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_DECISIONS_PLANNING_TIME_H_
