// What a search needs of measuring.
#ifndef TILEWRIGHT_MEASURE_MEASURER_H_
#define TILEWRIGHT_MEASURE_MEASURER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "measure/record.pb.h"
#include "sketch/schedule.pb.h"

namespace tilewright::measure {

// Candidates cross as protos, so that whoever measures may be another process
// or another machine. Not thread-safe.
class Measurer {
 public:
  virtual ~Measurer() = default;

  // Builds, verifies and measures candidates of one workload; one measurement
  // each, in their order. What goes wrong with a candidate is its outcome; an
  // error means that nothing could be measured, whatever the candidates.
  virtual absl::StatusOr<std::vector<Measurement>> Measure(
      const WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules) = 0;

  // The same, one candidate after the other with nothing beside it: for the
  // best ones when tuning ends (rank_selection.h).
  virtual absl::StatusOr<std::vector<Measurement>> MeasureAlone(
      const WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules) = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_MEASURER_H_
