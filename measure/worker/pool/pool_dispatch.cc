// Who does what next.
#include <algorithm>
#include <utility>

#include "measure/worker/pool/pool_time.h"
#include "measure/worker/pool/process_pool.h"

namespace tilewright::measure {

void ProcessPool::Dispatch() {
  if (broken_) return FailEverything();
  DispatchBuilds();
  DispatchMeasurements();
  PauseBuilders();
}

void ProcessPool::StartIfNeeded(Worker& worker) {
  if (worker.process.running() || broken_) return;
  if (NowNs() < worker.start_not_before_ns) return;
  worker.ready = false;
  worker.start_not_before_ns = 0;
  worker.deadline_ns = DeadlineNs(options_.start_limit_s);
  const absl::Status started = worker.process.Start(SetupOf(worker));
  if (!started.ok()) {
    FailStart(worker, Measurement::INFRASTRUCTURE,
              std::string(started.message()));
  }
}

// Builders start when there is something to build.
void ProcessPool::DispatchBuilds() {
  for (const auto& builder : builders_) {
    // A build whose outcome is known ends at once.
    while (!build_queue_.empty() && build_queue_.front().build->done) {
      PoolEvent event = BuiltEvent(*build_queue_.front().build);
      event.candidate = build_queue_.front().candidate;
      build_queue_.pop_front();
      Emit(std::move(event));
    }
    if (build_queue_.empty() || broken_) return;
    if (builder->job) continue;
    StartIfNeeded(*builder);
    if (!builder->ready || builder->job) continue;
    Job job = std::move(build_queue_.front());
    build_queue_.pop_front();
    WorkerRequest request;
    request.mutable_build()->set_workload(job.build->workload);
    *request.mutable_build()->mutable_schedule() = job.build->schedule;
    builder->deadline_ns = DeadlineNs(options_.build_limit_s);
    builder->job = std::move(job);
    builder->process.Send(request);
  }
}

bool ProcessPool::AnyMeasuring() const {
  return std::any_of(measurers_.begin(), measurers_.end(),
                     [](const auto& worker) { return worker->job; });
}

// A suspect runs when everything else has ended, in a worker that has executed
// nothing. True: nothing else may start.
bool ProcessPool::DispatchSuspect() {
  if (suspects_.empty()) return false;
  if (AnyMeasuring()) return true;
  Worker& worker = *measurers_.front();
  if (worker.process.running() && worker.ready &&
      worker.only_candidate != kNone) {
    worker.process.Kill();
    ++stats_.worker_restarts;
    StartIfNeeded(worker);
  }
  if (!worker.ready || !worker.process.running()) return true;
  Job job = std::move(suspects_.front());
  suspects_.pop_front();
  const auto known = candidates_.find(job.candidate);
  if (known != candidates_.end() && known->second.worker != nullptr) {
    // It stays where it is retried.
    known->second.worker = &worker;
  }
  ++stats_.retried_alone;
  Run(worker, std::move(job));
  return true;
}

void ProcessPool::DispatchMeasurements() {
  for (const auto& worker : measurers_) StartIfNeeded(*worker);
  if (broken_ || DispatchSuspect()) return;
  for (const auto& worker : measurers_) {
    if (!worker->ready || !worker->process.running() || worker->job ||
        worker->queue.empty()) {
      continue;
    }
    Job job = std::move(worker->queue.front());
    worker->queue.pop_front();
    Run(*worker, std::move(job));
  }
}

void ProcessPool::Run(Worker& worker, Job job) {
  worker.had_company = false;
  for (const auto& other : measurers_) {
    if (other.get() == &worker || !other->job) continue;
    other->had_company = true;
    worker.had_company = true;
  }
  worker.only_candidate =
      worker.only_candidate == kNone || worker.only_candidate == job.candidate
          ? job.candidate
          : kSeveral;
  worker.latencies_ns.clear();
  worker.executing = false;
  worker.job = std::move(job);
  if (worker.job->kind == PoolEvent::Kind::kMeasured &&
      worker.loaded.count(worker.job->candidate) == 1) {
    return SendMeasure(worker);
  }
  WorkerRequest request;
  request.mutable_prepare()->set_candidate(worker.job->candidate);
  request.mutable_prepare()->set_workload(worker.job->build->workload);
  *request.mutable_prepare()->mutable_built() = worker.job->build->built;
  worker.deadline_ns = DeadlineNs(options_.prepare_limit_s);
  worker.process.Send(request);
}

void ProcessPool::SendMeasure(Worker& worker) {
  const Job& job = *worker.job;
  WorkerRequest request;
  request.mutable_measure()->set_candidate(job.candidate);
  request.mutable_measure()->set_verify(options_.verify &&
                                        !job.build->verification.verified());
  *request.mutable_measure()->mutable_repeats() = job.repeats;
  // Then it says what it is doing.
  worker.deadline_ns = DeadlineNs(job.limit_s);
  worker.process.Send(request);
}

}  // namespace tilewright::measure
