// A compiled model that runs step by step on one core, and the least time of
// each step.
#ifndef TILEWRIGHT_BENCH_COST_TIMED_MODEL_H_
#define TILEWRIGHT_BENCH_COST_TIMED_MODEL_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/device.h"
#include "compiler/compile.h"
#include "runtime/session.h"

namespace tilewright::bench {

class TimedModel {
 public:
  static absl::StatusOr<TimedModel> Create(const CompiledModel& compiled);

  // Runs it once; the first run is not counted.
  absl::Status Run();

  // Microseconds of the launch of each group of the plan, the least so far:
  // tensors lie where the steps before have left them. Infinite before the
  // second run and for groups without a launch. REQUIRES: it was created from
  // `compiled`.
  std::vector<double> GroupTimes(const CompiledModel& compiled) const;

 private:
  TimedModel() = default;

  std::unique_ptr<Session> session_;
  std::vector<std::unique_ptr<backends::DeviceBuffer>> buffers_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<double> step_us_;  // of the program
  bool warm_ = false;
};

// Runs all of them, one after the other, for so long, and at least so often
// beside the first round.
absl::Status RunInterleaved(absl::Span<TimedModel> models, double seconds,
                            int least_runs);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_COST_TIMED_MODEL_H_
