// A compiled model's time, kernel by kernel, beside what the machine allows.
#ifndef TILEWRIGHT_TOOLS_PROFILE_PROFILE_H_
#define TILEWRIGHT_TOOLS_PROFILE_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cpu/device/task_log.h"
#include "runtime/session.h"
#include "tools/profile/roofline.h"

namespace tilewright::tools {

// Over the runs; 0 where nothing was run.
struct Spread {
  double min = 0;
  double median = 0;
};
Spread SpreadOf(std::vector<double> samples);

// One kernel with all its launches in a run, or all copies.
struct KernelProfile {
  std::string name;        // "k3", "copy"
  std::string label;       // the model's tensors it computes
  std::string short_name;  // of the last of them (short_names.h)
  std::string operators, shape_and_schedule;  // kernel_summary.h
  std::string schedule;                       // in full
  int launches = 0;
  int64_t tasks = 0;  // of one launch
  int64_t code_bytes = 0;
  int spills = 0;
  int64_t scratch_bytes = 0;
  Work work;                // of all launches
  Bound bound;              // of all launches
  double predicted_us = 0;  // of all launches, by its plan; 0: not predicted
  Spread wall_us;           // by the device's clock where it has one
  Spread cpu_us;            // of all threads, within tasks
  // Share of the threads' time within its launches that went to tasks.
  double busy_percent = 0;
};

// A launch of the runs that were traced.
struct TracedLaunch {
  int step = 0;
  int kernel = 0;  // in Profile::kernels
  int64_t start_ns = 0, end_ns = 0;
  std::vector<cpu::TaskRecord> pieces;
};

struct Profile {
  std::string target, producer;
  int threads = 1;
  bool by_device = false;  // timed by a device's clock: of no host's threads
  int runs = 0;            // 0: nothing was run, only bounds are known
  Limits limits;
  Work work;                    // of the model
  Bound bound;                  // of the model
  double kernels_bound_us = 0;  // the sum of the kernels' bounds
  Spread wall_us;  // of a run, between first and last step; on a device with
                   // memory of its own without the copies there and back
  double busy_percent = 0;
  std::vector<KernelProfile> kernels;  // in the order of their first launch
  std::vector<TracedLaunch> trace;     // of the first traced runs
};

// The time that is quoted: CPU time with one thread, as far as it is smaller,
// else wall time; the minimum. 0 if nothing was run.
double QuotedUs(const Profile& profile, const KernelProfile& kernel);
// 100 where the bound is reached; 0 if nothing was run.
double RooflinePercent(const Profile& profile, const KernelProfile& kernel);

// Bounds alone.
Profile DescribeBounds(const Program& program, const Limits& limits,
                       int threads);

// Runs for about `seconds`; every other run is traced by `log`, which the
// model's device was made with. The limits are measured between the runs.
absl::StatusOr<Profile> MeasureProfile(Session& session,
                                       absl::Span<const void* const> inputs,
                                       absl::Span<void* const> outputs,
                                       cpu::TaskLog& log, LimitSampler& sampler,
                                       double seconds);

// The same of a device with a clock of its own: each launch as the device times
// it, and all of them as Run launches them. Nothing is traced.
absl::StatusOr<Profile> MeasureDeviceProfile(
    Session& session, absl::Span<const void* const> inputs,
    absl::Span<void* const> outputs, const Limits& limits, double seconds);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_PROFILE_PROFILE_H_
