// The way of a batch of candidates through a pool: built, prepared, measured,
// released. How many of them are where at a time is the caller's decision.
#ifndef TILEWRIGHT_MEASURE_PARALLEL_CANDIDATE_FLOW_H_
#define TILEWRIGHT_MEASURE_PARALLEL_CANDIDATE_FLOW_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/cancellation.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "measure/parallel/worker_pool.h"
#include "measure/record/record.pb.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::measure {

// Candidates are named by their index in the batch. After an error (which is
// the pool's, or Cancelled) it is of no more use.
class CandidateFlow {
 public:
  struct Candidate {
    PoolEvent event;  // the last one about it
    double build_ns = 0;
    std::optional<int> spills;
    // Another one was measured at the same time, if only for a moment.
    bool disturbed = false;
  };

  struct Limits {
    int under_way = 1;  // from being prepared to the end of being measured
    int measured = 1;   // at the same time
    int quota = std::numeric_limits<int>::max();
    int timeout_s = 4;
    // Executions in so many parts, in different workers if there are; between
    // two of them others have theirs.
    int visits = 1;
    // A candidate so many times slower than the fastest one is given up.
    double give_up_factor = std::numeric_limits<double>::infinity();
    bool keep = false;  // prepared, once measured
  };

  // `pool` must outlive it. `repeats`: of one visit.
  CandidateFlow(WorkerPool* pool, const AdaptiveEvaluatorOptions& repeats)
      : pool_(pool),
        repeats_(repeats),
        worker_taken_(static_cast<size_t>(pool->workers())) {}
  ~CandidateFlow();
  CandidateFlow(const CandidateFlow&) = delete;
  CandidateFlow& operator=(const CandidateFlow&) = delete;

  // All are optional, and set before Start.
  struct Watch {
    // Whether one that is built is to be prepared. What is not ends there, as
    // NOT_MEASURED.
    std::function<bool(int index)> wanted;
    // Called when a candidate has come to an end: as soon as it is not built or
    // not wanted (its event is kBuilt, and Pass does not return it), or when
    // Pass is through with it.
    std::function<void(int index)> on_end;
    // Once it is cancelled, whatever waits abandons all that is under way, and
    // returns Cancelled.
    const Cancellation* cancellation = nullptr;
  };
  void set_watch(Watch watch) { watch_ = std::move(watch); }

  // Starts all builds.
  absl::Status Start(const WorkloadKey& workload,
                     absl::Span<const sketch::ScheduleProto> schedules);
  absl::Status WaitForBuilds();

  // Lets candidates through until `quota` of them were measured or failed to be
  // prepared, or there are no more; nothing is being measured then. Returns
  // them in the order in which they ended. A failed build is not among them.
  absl::StatusOr<std::vector<int>> Pass(const Limits& limits);

  // Measures one again, with nothing beside it but builds; prepares it first
  // if it is not. REQUIRES: Pass returned it.
  absl::Status MeasureAlone(int index, const AdaptiveEvaluatorOptions& repeats,
                            int timeout_s);

  // Drops a candidate that Pass kept; nothing happens to others.
  void Release(int index);

  // No more candidates for Pass.
  bool done() const;
  const Candidate& candidate(int index) const {
    return entries_[static_cast<size_t>(index)].candidate;
  }
  // The median of the fastest one so far, also of an earlier flow; or infinity.
  double fastest_ns() const { return fastest_ns_; }
  void set_fastest_ns(double fastest_ns) { fastest_ns_ = fastest_ns; }
  // How many were measured at the same time during the last Pass, at most.
  int most_measured() const { return most_measured_; }

 private:
  struct Entry {
    int id = 0;  // the pool's
    Candidate candidate;
    bool prepared = false;
    bool measuring = false;
    int worker = 0;
    bool holds_worker = false;  // from being prepared to having been measured
    // The rest belongs to this pass.
    int visits_left = 0;
    std::set<int> visited;  // workers
    PoolEvent earlier;      // of all visits but the last one
  };
  Entry& entry(int index) { return entries_[static_cast<size_t>(index)]; }

  void Prepare(int index, int worker);
  void End(int index);
  void FreeWorker(Entry& entry);
  // How many are prepared, or being so, and had no visit.
  int Fresh() const;
  double GiveUpAboveNs() const { return give_up_factor_ * fastest_ns_; }
  // Prepares the next one of a queue that has a worker; whether there was one.
  bool PrepareNextOf(std::deque<int>& queue);
  void Measure(int index, const AdaptiveEvaluatorOptions& repeats,
               int timeout_s);
  // Waits for one event. What ended a candidate's way goes to ended_.
  absl::Status TakeEvent();
  void Take(int index, PoolEvent event);
  void TakeBuilt(int index, PoolEvent& event);
  // Until nothing is under way.
  absl::Status AbandonAll();

  WorkerPool* pool_;
  AdaptiveEvaluatorOptions repeats_;
  Watch watch_;
  std::vector<Entry> entries_;
  std::map<int, int> index_of_id_;
  std::vector<bool> worker_taken_;
  std::deque<int> built_, revisited_, prepared_;  // that wait
  std::vector<int> ended_;                        // since Pass returned some
  int building_ = 0, preparing_ = 0, measuring_ = 0, most_measured_ = 0;
  int visited_ = 0;  // had a visit, and did not end
  double give_up_factor_ = 1;
  double fastest_ns_ = std::numeric_limits<double>::infinity();
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_CANDIDATE_FLOW_H_
