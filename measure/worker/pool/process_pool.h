// The worker pool of real devices: builders and measurers are long-lived
// children (run_worker.h), one candidate at a time each.
//
// A measurer that crashes, hangs, runs out of memory, or whose device refuses
// to go on, is started again. If it had executed something else before, or
// others were at work, what it was doing is retried alone, in a new process:
// only what fails then is the candidate's fault. Before that is said the
// device must work again; if it does not, it is the device's. A process that
// somebody kills, or that cannot be had, is the infrastructure's.
//
// When devices or processes are lost for good, all that is under way ends in
// such an event, and Add fails.
#ifndef TILEWRIGHT_MEASURE_WORKER_POOL_PROCESS_POOL_H_
#define TILEWRIGHT_MEASURE_WORKER_POOL_PROCESS_POOL_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancellation.h"
#include "measure/parallel/worker_pool.h"
#include "measure/worker/pool/build_cache.h"
#include "measure/worker/pool/pool_worker.h"
#include "measure/worker/pool/process_pool_options.h"

namespace tilewright::measure {

// All calls on the thread that made it: children end with that thread.
class ProcessPool : public WorkerPool {
 public:
  // Waits until one measurer works. Unavailable if none does: says why.
  static absl::StatusOr<std::unique_ptr<ProcessPool>> Create(
      const ProcessPoolOptions& options);
  // Kills the children.
  ~ProcessPool() override = default;

  int workers() const override { return options_.workers; }
  absl::StatusOr<int> Add(const WorkloadKey& workload,
                          const sketch::ScheduleProto& schedule) override;
  void Build(int candidate) override;
  void Prepare(int candidate, int worker) override;
  void Measure(int candidate, const AdaptiveEvaluatorOptions& repeats,
               int timeout_s) override;
  void Release(int candidate) override;
  void Forget(int candidate) override;
  absl::StatusOr<PoolEvent> Wait() override;
  absl::StatusOr<PoolEvent> WaitUnless(
      const Cancellation& cancellation) override;
  // A measurer is started again; what a builder is at ends there.
  void Abandon(int candidate) override;
  Method method() const override { return method_; }

  const PoolStats& stats() const { return stats_; }
  // The restrictions its measurers run under, as text for people.
  const std::string& confinement() const { return confinement_; }

 private:
  using Job = PoolJob;
  using Failure = PoolFailure;
  using Worker = PoolWorker;
  struct Candidate {
    std::shared_ptr<measure::Build> build;
    Worker* worker = nullptr;  // where it is prepared
  };
  explicit ProcessPool(const ProcessPoolOptions& options);

  // pool_dispatch.cc: who does what next.
  void Dispatch();
  void DispatchBuilds();
  void DispatchMeasurements();
  bool DispatchSuspect();
  void StartIfNeeded(Worker& worker);
  void Run(Worker& worker, Job job);
  void SendMeasure(Worker& worker);
  bool AnyMeasuring() const;

  // process_pool.cc: what comes back.
  absl::StatusOr<PoolEvent> WaitOr(const Cancellation* cancellation);
  void PollOnce(int64_t longest_ns);
  int64_t NextDeadlineNs() const;
  void Handle(Worker& worker, WorkerReply& reply);
  void HandleReady(Worker& worker, const WorkerReply::Ready& ready);
  void HandleEnd(Worker& worker);
  void HandleDeadline(Worker& worker);
  void FinishJob(Worker& worker, PoolEvent event);

  // pool_pause.cc
  void PauseBuilders();
  void Pause(Worker& builder);
  void Resume(Worker& builder);

  // pool_abandon.cc
  void AbandonQueued(std::deque<Job>& queue, int candidate);
  void AbandonMeasurer(Worker& worker, int candidate);

  // pool_faults.cc: whose fault it is.
  void FailJob(Worker& worker, const Failure& failure);
  void FailStart(Worker& worker, Measurement::Fault fault,
                 const std::string& message);
  void BreakDown(Measurement::Fault fault, const std::string& message);
  void FailEverything();
  PoolEvent FailedEvent(const Job& job, const Failure& failure) const;
  static PoolEvent BuiltEvent(const measure::Build& build);
  void Emit(PoolEvent event);

  WorkerSetup SetupOf(const Worker& worker) const;

  ProcessPoolOptions options_;
  BuildCache cache_;
  std::map<int, Candidate> candidates_;
  int next_candidate_ = 0;
  std::vector<std::unique_ptr<Worker>> builders_, measurers_;
  std::deque<Job> build_queue_;
  std::deque<Job> suspects_;  // to be retried alone
  std::deque<PoolEvent> events_;
  int under_way_ = 0;  // requests without an event
  Method method_;
  std::string confinement_;
  PoolStats stats_;
  // Why nothing works any more.
  std::optional<Failure> broken_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_POOL_PROCESS_POOL_H_
