// Whose fault it is.
#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "measure/worker/pool/pool_time.h"
#include "measure/worker/pool/process_pool.h"

namespace tilewright::measure {
namespace {

// Pauses before a worker that does not start is started again.
constexpr double kStartPausesS[] = {0.05, 1};

}  // namespace

PoolEvent ProcessPool::FailedEvent(const Job& job,
                                   const Failure& failure) const {
  PoolEvent event;
  event.kind = job.kind;
  event.candidate = job.candidate;
  event.outcome = failure.outcome;
  event.message = failure.message;
  event.signal = failure.signal;
  event.fault = failure.fault;
  return event;
}

PoolEvent ProcessPool::BuiltEvent(const measure::Build& build) {
  PoolEvent event;
  event.build_ns = static_cast<double>(build.build_ns);
  if (build.built.has_spills()) event.spills = build.built.spills();
  return event;
}

void ProcessPool::Emit(PoolEvent event) {
  const auto found = candidates_.find(event.candidate);
  if (found != candidates_.end() && event.kind != PoolEvent::Kind::kBuilt) {
    if (event.outcome != Measurement::OK) Release(event.candidate);
  }
  events_.push_back(std::move(event));
}

void ProcessPool::FailJob(Worker& worker, const Failure& failure) {
  Job job = *std::move(worker.job);
  worker.job.reset();
  worker.deadline_ns = kNever;
  if (failure.lost) {
    if (worker.process.running()) worker.process.Kill();
    worker.ready = false;
    worker.loaded.clear();
    ++(worker.is_builder ? stats_.builder_restarts : stats_.worker_restarts);
  }
  if (worker.is_builder) {
    // A builder works on nothing else, but it may have been killed.
    if (failure.fault == Measurement::INFRASTRUCTURE && !job.retried) {
      job.retried = true;
      build_queue_.push_front(std::move(job));
      return;
    }
    return Emit(FailedEvent(job, failure));
  }
  const bool exact = job.alone || (!worker.had_company &&
                                   worker.only_candidate == job.candidate);
  const bool was_killed = failure.fault == Measurement::INFRASTRUCTURE;
  if (failure.lost && (!exact || (was_killed && !job.alone))) {
    job.alone = true;
    suspects_.push_back(std::move(job));
    return;
  }
  PoolEvent event = FailedEvent(job, failure);
  event.alone = exact;
  // Blame waits until the device works in a new process.
  if (failure.lost) {
    worker.verdict = std::move(event);
  } else {
    Emit(std::move(event));
  }
}

void ProcessPool::FailStart(Worker& worker, Measurement::Fault fault,
                            const std::string& message) {
  if (worker.process.running()) worker.process.Kill();
  worker.ready = false;
  worker.loaded.clear();
  ++(worker.is_builder ? stats_.builder_restarts : stats_.worker_restarts);
  const size_t attempt = static_cast<size_t>(worker.failed_starts++);
  if (attempt >= std::size(kStartPausesS)) return BreakDown(fault, message);
  worker.start_not_before_ns = DeadlineNs(kStartPausesS[attempt]);
}

void ProcessPool::BreakDown(Measurement::Fault fault,
                            const std::string& message) {
  if (broken_) return;
  broken_ = {Measurement::RUN_ERROR, fault, message};
  FailEverything();
}

void ProcessPool::FailEverything() {
  std::vector<PoolEvent> ended;
  const auto fail = [&](const Job& job) {
    ended.push_back(FailedEvent(job, *broken_));
    if (job.kind == PoolEvent::Kind::kBuilt) {
      ended.back().outcome = Measurement::BUILD_ERROR;
    }
  };
  for (const Job& job : std::exchange(build_queue_, {})) fail(job);
  for (const Job& job : std::exchange(suspects_, {})) fail(job);
  for (auto* workers : {&builders_, &measurers_}) {
    for (const auto& worker : *workers) {
      if (worker->process.running()) worker->process.Kill();
      worker->ready = false;
      worker->loaded.clear();
      if (worker->job) fail(*worker->job);
      worker->job.reset();
      for (const Job& job : std::exchange(worker->queue, {})) fail(job);
      if (worker->verdict) {
        worker->verdict->fault = broken_->fault;
        worker->verdict->message =
            absl::StrCat(worker->verdict->message, "; then ", broken_->message);
        ended.push_back(*std::move(worker->verdict));
        worker->verdict.reset();
      }
    }
  }
  for (PoolEvent& event : ended) Emit(std::move(event));
}

}  // namespace tilewright::measure
