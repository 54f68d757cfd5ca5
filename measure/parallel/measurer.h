// The interface through which a search measures candidates.
#ifndef TILEWRIGHT_MEASURE_PARALLEL_MEASURER_H_
#define TILEWRIGHT_MEASURE_PARALLEL_MEASURER_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/cancellation.h"
#include "measure/record/record.pb.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::measure {

// Facts about a candidate that are known once it is built.
struct BuildReport {
  // Vector stores to and loads from its frame; none where they are not counted.
  std::optional<int> spills;
};

// The functions are called on the thread that measures, which waits for them,
// and must not measure themselves.
struct MeasureOptions {
  // Called once for every candidate, with its index and what will be returned
  // for it, as soon as that cannot change any more: at once when it ends, or
  // when the round ends in whose values it is calibrated.
  std::function<void(int index, const Measurement& measurement)> on_result;
  // Whether a candidate that is built is to be measured. Empty: all are.
  std::function<bool(int index, const BuildReport& report)> wanted;
  // Measuring ends soon after it is cancelled: what has no result by then is
  // NOT_MEASURED. Must outlive the call.
  const Cancellation* cancellation = nullptr;
};

// Candidates of one workload, and how they are measured; of the caller.
struct MeasureBatch {
  const WorkloadKey& workload;
  absl::Span<const sketch::ScheduleProto> schedules;
  const MeasureOptions& options;
  // One candidate after the other on one device, with nothing beside it.
  bool alone = false;
};

// Candidates cross as protos, so that whoever measures may be another process
// or another machine. Not thread-safe.
class Measurer {
 public:
  virtual ~Measurer() = default;

  // Builds, verifies and measures candidates of one workload; one measurement
  // each, in their order. What goes wrong with a candidate is its outcome; an
  // error means that nothing more could be measured, whatever the candidates:
  // on_result has had those that were done.
  absl::StatusOr<std::vector<Measurement>> Measure(const MeasureBatch& batch) {
    return DoMeasure(batch);
  }
  absl::StatusOr<std::vector<Measurement>> Measure(
      const WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules,
      const MeasureOptions& options = {}) {
    return DoMeasure({workload, schedules, options});
  }
  // Alone: for the best ones when tuning ends (rank_selection.h).
  absl::StatusOr<std::vector<Measurement>> MeasureAlone(
      const WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules,
      const MeasureOptions& options = {}) {
    return DoMeasure({workload, schedules, options, /*alone=*/true});
  }

 protected:
  // Who cannot measure several at once need not look at `alone`.
  virtual absl::StatusOr<std::vector<Measurement>> DoMeasure(
      const MeasureBatch& batch) = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_MEASURER_H_
