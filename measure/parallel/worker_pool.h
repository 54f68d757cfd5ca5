// Builders and workers as the measurers see them: processes, or a simulation.
#ifndef TILEWRIGHT_MEASURE_PARALLEL_WORKER_POOL_H_
#define TILEWRIGHT_MEASURE_PARALLEL_WORKER_POOL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancellation.h"
#include "measure/parallel/adaptive_evaluator.h"
#include "measure/record/record.pb.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::measure {

// The outcome of a task that was started.
struct PoolEvent {
  enum class Kind : uint8_t { kBuilt, kPrepared, kMeasured };

  Kind kind = Kind::kBuilt;
  int candidate = 0;
  // Not OK: the candidate failed at this, and is no longer prepared.
  Measurement::Outcome outcome = Measurement::OK;
  std::string message;  // if not OK: one line
  int signal = 0;       // that ended it, if any
  Measurement::Fault fault = Measurement::FAULT_UNSPECIFIED;  // if not OK
  // Not OK: it failed so with nothing beside it, in a worker that had executed
  // nothing else. OK: it had failed beside others.
  bool alone = false;

  double build_ns = 0;               // kBuilt
  std::optional<int> spills;         // kBuilt: where the builder counts them
  std::vector<double> latencies_ns;  // kMeasured: on the device's clock
  // kMeasured: v, on the host's clock, of so many executions. A latency may be
  // the mean of several of them.
  double duration_ns = 0;
  int64_t executions = 0;
  Verification verification;  // kMeasured
};

// Asynchronous: a call starts something, Wait returns what ended. Not
// thread-safe.
class WorkerPool {
 public:
  virtual ~WorkerPool() = default;

  // How many candidates may at the same time be under way between Prepare and
  // the end of Measure.
  virtual int workers() const = 0;

  // Names a candidate for the calls below.
  virtual absl::StatusOr<int> Add(const WorkloadKey& workload,
                                  const sketch::ScheduleProto& schedule) = 0;

  // Compiles it, when a builder is free -> kBuilt.
  virtual void Build(int candidate) = 0;
  // Loads it into that worker, of workers() -> kPrepared. REQUIRES: built, not
  // prepared; fewer than workers() under way.
  virtual void Prepare(int candidate, int worker) = 0;
  // Verifies it, if that was not done, and executes it as often as `repeats`
  // says -> kMeasured. It ends as TIMEOUT when no execution ends for so long.
  // REQUIRES: prepared; it stays so, to be measured again.
  virtual void Measure(int candidate, const AdaptiveEvaluatorOptions& repeats,
                       int timeout_s) = 0;
  // Unloads it. REQUIRES: prepared, and not being measured.
  virtual void Release(int candidate) = 0;

  // Its name means nothing any more. REQUIRES: nothing is under way for it, or
  // Wait failed. It may be prepared.
  virtual void Forget(int candidate) = 0;

  // Waits for the next event. An error is the infrastructure's: no more events
  // will come.
  virtual absl::StatusOr<PoolEvent> Wait() = 0;
  // The same until `cancellation` is cancelled: Cancelled, soon, and nothing
  // else happens. A pool whose events are never far may look at it once.
  virtual absl::StatusOr<PoolEvent> WaitUnless(
      const Cancellation& cancellation) {
    if (cancellation.cancelled()) return absl::CancelledError("cancelled");
    return Wait();
  }
  // Lets what is under way for it, if anything is, end soon; its event comes as
  // ever, NOT_MEASURED if nothing else. A pool that cannot hurry lets it go on.
  virtual void Abandon(int candidate) = 0;

  // How the latencies are measured: Method's timer, cache and threads.
  virtual Method method() const = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PARALLEL_WORKER_POOL_H_
