// Kernels of one workload that are compared: executed one after the other, and
// that several times, so that a disturbance meets all of them.
#ifndef TILEWRIGHT_MEASURE_PARALLEL_INTERLEAVED_ROUNDS_H_
#define TILEWRIGHT_MEASURE_PARALLEL_INTERLEAVED_ROUNDS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/cancellation.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::measure {

struct InterleavedOptions {
  int rounds = 9;
  const Cancellation* cancellation = nullptr;  // must outlive the call
};

// One measurement each, in their order, of kernels that are measured alone in
// every round, every other round in reverse order. One that worked in all
// rounds has rounds_ns, the latency of these, and in its method which kernels
// it was compared with; one that failed has that failure, and is left out from
// then on. NOT_MEASURED: it was cancelled. Errors are the measurer's.
absl::StatusOr<std::vector<Measurement>> MeasureInterleaved(
    const WorkloadKey& workload,
    absl::Span<const sketch::ScheduleProto> schedules, Measurer& measurer,
    const InterleavedOptions& options = {});

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_INTERLEAVED_ROUNDS_H_
