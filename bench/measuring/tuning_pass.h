// One pass over the candidates of a workload, as a search would measure them.
#ifndef TILEWRIGHT_BENCH_MEASURING_TUNING_PASS_H_
#define TILEWRIGHT_BENCH_MEASURING_TUNING_PASS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/parallel/worker_pool.h"
#include "measure/record/record.pb.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/schedule.pb.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {

// The candidates that are measured.
struct CandidateSet {
  measure::WorkloadKey workload;
  std::vector<sketch::ScheduleProto> schedules;  // the default one first
  double default_ns = 0;
  double mean_ns = 0;
  int drawn = 0;  // to find that many
};

// The default schedule and `count` - 1 schedules near it that are right and at
// most `slowest` times slower. All are built and verified in `pool` then.
absl::StatusOr<CandidateSet> DrawCandidates(const sketch::Workload& workload,
                                            const DeviceSpec& spec, int count,
                                            double slowest, uint64_t seed,
                                            measure::WorkerPool* pool);

struct PassResult {
  double wall_s = 0;
  std::vector<double> latencies_ns;  // medians; NaN: failed
  double samples = 0;                // of a candidate, on average
  int chosen = 0;                    // the best
  int repeated = 0;                  // alone
  int failures = 0;                  // that did not happen alone
  double degree = 0;                 // of a candidate, on average
  double foreign_percent = 0;        // of the cores' time that others had
};

// In batches of 64. In precise mode the best ranks are measured alone at the
// end, before the best is chosen.
absl::StatusOr<PassResult> RunPass(
    const CandidateSet& candidates,
    const measure::ParallelMeasurerOptions& options, measure::WorkerPool* pool);

// Medians of the same candidates, measured alone interleaved, so many times.
absl::StatusOr<std::vector<double>> MeasureInterleaved(
    const CandidateSet& candidates, const std::vector<int>& which, int turns,
    int repeats, measure::WorkerPool* pool);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MEASURING_TUNING_PASS_H_
