// Measuring several candidates at the same time: DOPpler's precise parallel
// measurer and calibrator (algorithms 1 and 2) under REACT, with AdaTune's
// adaptive evaluator inside; and the two ways it is compared with. What differs
// from the paper, and why, is in docs/parallel_measuring.md.
#ifndef TILEWRIGHT_MEASURE_PARALLEL_PARALLEL_MEASURER_H_
#define TILEWRIGHT_MEASURE_PARALLEL_PARALLEL_MEASURER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/random.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "measure/parallel/adaptive_timeout.h"
#include "measure/parallel/calibrator.h"
#include "measure/parallel/candidate_flow.h"
#include "measure/parallel/measurer.h"
#include "measure/parallel/parallel_measurer_options.h"
#include "measure/parallel/react.h"
#include "measure/parallel/result_list.h"
#include "measure/parallel/worker_pool.h"

namespace tilewright::measure {

// One round, for reports.
struct RoundReport {
  int degree = 1;
  int candidates = 0;
  int repeated = 0;  // alone
  int failures = 0;  // that did not happen alone
  double delta = 0;
};

class ParallelMeasurer : public Measurer {
 public:
  // `pool` must outlive it.
  ParallelMeasurer(WorkerPool* pool, const ParallelMeasurerOptions& options);

  void set_on_round(std::function<void(const RoundReport&)> on_round) {
    on_round_ = std::move(on_round);
  }

 protected:
  absl::StatusOr<std::vector<Measurement>> DoMeasure(
      const MeasureBatch& batch) override;

 private:
  // State of a program that its earlier batches left.
  struct Program {
    React react;
    double best_ns = std::numeric_limits<double>::infinity();  // alone
    // Beside others or alone: CandidateFlow::fastest_ns.
    double fastest_ns = std::numeric_limits<double>::infinity();
    // By how many were measured at a time: how many times slower than alone,
    // the latest ones.
    std::map<int, std::deque<double>> slowdowns;
    // No candidate is expected to be slowed down by more.
    double WorstSlowdown(int measured) const;
  };
  struct Round;

  // Measures in one way or the other; the results are whoever's calls it, also
  // after an error.
  absl::Status MeasureAtFixedDegree(
      const WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules,
      const MeasureOptions& how, int degree, bool by_host_clock,
      ResultList& results);
  absl::Status MeasurePrecisely(
      const WorkloadKey& workload,
      absl::Span<const sketch::ScheduleProto> schedules,
      const MeasureOptions& how, ResultList& results);
  // `on_end` as in CandidateFlow::Watch.
  absl::Status StartFlow(CandidateFlow& flow, const WorkloadKey& workload,
                         absl::Span<const sketch::ScheduleProto> schedules,
                         const MeasureOptions& how,
                         std::function<void(int)> on_end);

  // The steps of a round, in order.
  absl::Status RepeatFailed(CandidateFlow& flow, Round& round,
                            ResultList& results);
  absl::Status RepeatSample(CandidateFlow& flow, Program& program,
                            Round& round);
  void Conclude(const CandidateFlow& flow, const Round& round, Program& program,
                ResultList& results);
  absl::Status Repeat(CandidateFlow& flow, const std::vector<int>& members,
                      Round& round);

  // NaN if there is none.
  double LatencyNs(const PoolEvent& event) const;
  ParallelMeasurement ValueOf(const PoolEvent& event) const;
  // The repeats of one visit.
  AdaptiveEvaluatorOptions VisitRepeats() const;
  Measurement MakeMeasurement(const CandidateFlow::Candidate& candidate) const;
  AdaptiveEvaluatorOptions AloneRepeats() const;
  int TimeoutSeconds(int degree) const {
    return AdaptiveTimeoutSeconds(degree, options_.devices, options_.timeout);
  }

  WorkerPool* pool_;
  ParallelMeasurerOptions options_;
  std::map<std::string, Program> programs_;  // by workload text
  Random random_;
  std::function<void(const RoundReport&)> on_round_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_PARALLEL_MEASURER_H_
