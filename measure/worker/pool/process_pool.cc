#include "measure/worker/pool/process_pool.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "measure/worker/confinement.h"
#include "measure/worker/pool/pool_time.h"
#include "measure/worker/protocol_version.h"
#include "measure/worker/repeats.h"

namespace tilewright::measure {
namespace {

// Nothing waits for longer than this, even if nobody set a limit.
constexpr int64_t kLongestWaitNs = int64_t{1} << 30;
// How often somebody who may cancel is asked.
constexpr int64_t kCancelledWithinNs = 20000000;

}  // namespace

ProcessPool::ProcessPool(const ProcessPoolOptions& options)
    : options_(options), cache_(options.build_cache_bytes) {
  for (int i = 0; i < std::max(1, options.builders); ++i) {
    builders_.push_back(std::make_unique<Worker>());
    builders_.back()->is_builder = true;
  }
  options_.workers = std::max(1, options.workers);
  for (int i = 0; i < options_.workers; ++i) {
    measurers_.push_back(std::make_unique<Worker>());
  }
}

absl::StatusOr<std::unique_ptr<ProcessPool>> ProcessPool::Create(
    const ProcessPoolOptions& options) {
  std::unique_ptr<ProcessPool> pool(new ProcessPool(options));
  const auto works = [](const auto& worker) { return worker->ready; };
  while (!pool->broken_ && std::none_of(pool->measurers_.begin(),
                                        pool->measurers_.end(), works)) {
    pool->Dispatch();
    pool->PollOnce(kLongestWaitNs);
  }
  if (pool->broken_) return absl::UnavailableError(pool->broken_->message);
  return pool;
}

WorkerSetup ProcessPool::SetupOf(const Worker& worker) const {
  WorkerSetup setup;
  setup.set_role(worker.is_builder ? WorkerSetup::BUILDER
                                   : WorkerSetup::MEASURER);
  setup.set_protocol_version(kProtocolVersion);
  setup.set_backend(options_.backend);
  setup.set_backend_options(options_.backend_options);
  setup.set_address_space_bytes(worker.is_builder
                                    ? options_.builder_address_space_bytes
                                    : options_.worker_address_space_bytes);
  *setup.mutable_method() = options_.method;
  setup.set_input_seed(options_.input_seed);
  setup.set_verify_threads(options_.verify_threads);
  setup.set_verify_limit_s(options_.verify_limit_s);
  setup.set_kept_bytes(options_.kept_bytes);
  setup.set_wait_for_steady_core(options_.wait_for_steady_core);
  return setup;
}

absl::StatusOr<int> ProcessPool::Add(const WorkloadKey& workload,
                                     const sketch::ScheduleProto& schedule) {
  if (broken_) return absl::UnavailableError(broken_->message);
  const int id = next_candidate_++;
  candidates_[id].build = cache_.Get(workload, schedule);
  return id;
}

void ProcessPool::Build(int candidate) {
  Job job;
  job.candidate = candidate;
  job.build = candidates_.at(candidate).build;
  ++under_way_;
  build_queue_.push_back(std::move(job));
  Dispatch();
}

void ProcessPool::Prepare(int candidate, int worker) {
  Candidate& known = candidates_.at(candidate);
  TW_CHECK(known.build->done) << "candidate " << candidate << " is not built";
  Job job;
  job.kind = PoolEvent::Kind::kPrepared;
  job.candidate = candidate;
  job.build = known.build;
  known.worker = measurers_[static_cast<size_t>(worker)].get();
  ++under_way_;
  known.worker->queue.push_back(std::move(job));
  Dispatch();
}

void ProcessPool::Measure(int candidate,
                          const AdaptiveEvaluatorOptions& repeats,
                          int timeout_s) {
  const Candidate& known = candidates_.at(candidate);
  TW_CHECK(known.worker != nullptr)
      << "candidate " << candidate << " is not prepared";
  Job job;
  job.kind = PoolEvent::Kind::kMeasured;
  job.candidate = candidate;
  job.build = known.build;
  job.repeats = ToProto(repeats);
  job.limit_s = options_.progress_limit_override_s > 0
                    ? options_.progress_limit_override_s
                    : timeout_s;
  ++under_way_;
  known.worker->queue.push_back(std::move(job));
  Dispatch();
}

void ProcessPool::Release(int candidate) {
  const auto found = candidates_.find(candidate);
  if (found == candidates_.end()) return;
  Candidate& known = found->second;
  if (known.worker == nullptr) return;
  if (known.worker->loaded.erase(candidate) == 1) {
    WorkerRequest request;
    request.mutable_release()->set_candidate(candidate);
    known.worker->process.Send(request);
  }
  known.worker = nullptr;
}

void ProcessPool::Forget(int candidate) {
  Release(candidate);
  candidates_.erase(candidate);
}

absl::StatusOr<PoolEvent> ProcessPool::Wait() { return WaitOr(nullptr); }

absl::StatusOr<PoolEvent> ProcessPool::WaitUnless(
    const Cancellation& cancellation) {
  return WaitOr(&cancellation);
}

absl::StatusOr<PoolEvent> ProcessPool::WaitOr(
    const Cancellation* cancellation) {
  while (true) {
    if (cancellation != nullptr && cancellation->cancelled()) {
      return absl::CancelledError("cancelled");
    }
    Dispatch();
    while (!events_.empty()) {
      PoolEvent event = std::move(events_.front());
      events_.pop_front();
      --under_way_;
      if (candidates_.count(event.candidate) == 1) return event;
    }
    if (under_way_ == 0) {
      return absl::FailedPreconditionError("nothing is under way");
    }
    PollOnce(cancellation == nullptr ? kLongestWaitNs : kCancelledWithinNs);
  }
}

int64_t ProcessPool::NextDeadlineNs() const {
  int64_t next_ns = kNever;
  for (const auto* workers : {&builders_, &measurers_}) {
    for (const auto& worker : *workers) {
      if (worker->process.running()) {
        next_ns = std::min(next_ns, worker->deadline_ns);
      } else if (worker->start_not_before_ns > 0) {
        next_ns = std::min(next_ns, worker->start_not_before_ns);
      }
    }
  }
  return next_ns;
}

// Waits for a child to say something, or for a limit to pass, at most so long.
void ProcessPool::PollOnce(int64_t longest_ns) {
  std::vector<Worker*> polled;
  std::vector<pollfd> descriptors;
  for (auto* workers : {&builders_, &measurers_}) {
    for (const auto& worker : *workers) {
      if (!worker->process.running()) continue;
      polled.push_back(worker.get());
      pollfd descriptor = {};
      descriptor.fd = worker->process.descriptor();
      descriptor.events = POLLIN;
      if (worker->process.has_unsent()) descriptor.events |= POLLOUT;
      descriptors.push_back(descriptor);
    }
  }
  const int64_t wait_ns =
      std::clamp<int64_t>(NextDeadlineNs() - NowNs(), 0, longest_ns);
  const int wait_ms = static_cast<int>((wait_ns + 999999) / 1000000);
  (void)poll(descriptors.data(), descriptors.size(), wait_ms);
  for (size_t i = 0; i < polled.size(); ++i) {
    Worker& worker = *polled[i];
    if (descriptors[i].revents != 0) {
      std::vector<WorkerReply> replies;
      const bool usable = worker.process.Pump(replies);
      for (WorkerReply& reply : replies) {
        if (worker.process.running()) Handle(worker, reply);
      }
      if (!usable && worker.process.running()) HandleEnd(worker);
    }
    if (worker.process.running() && NowNs() >= worker.deadline_ns) {
      HandleDeadline(worker);
    }
  }
}

void ProcessPool::HandleReady(Worker& worker, const WorkerReply::Ready& ready) {
  const absl::Status version =
      CheckProtocolVersion(ready.protocol_version(), "the worker");
  if (!version.ok()) {
    return FailStart(worker, Measurement::INFRASTRUCTURE,
                     std::string(version.message()));
  }
  worker.ready = true;
  worker.deadline_ns = kNever;
  worker.loaded.clear();
  worker.only_candidate = kNone;
  if (worker.is_builder) return;
  method_ = ready.method();
  confinement_ = ready.confinement();
  if (worker.verdict) {
    PoolEvent verdict = *std::move(worker.verdict);
    worker.verdict.reset();
    worker.failed_starts = 0;
    Emit(std::move(verdict));
  }
}

namespace {

void Add(const Spent& more, Spent& all) {
  all.set_building_ns(all.building_ns() + more.building_ns());
  all.set_loading_ns(all.loading_ns() + more.loading_ns());
  all.set_reference_ns(all.reference_ns() + more.reference_ns());
  all.set_packing_ns(all.packing_ns() + more.packing_ns());
  all.set_verifying_ns(all.verifying_ns() + more.verifying_ns());
  all.set_comparing_ns(all.comparing_ns() + more.comparing_ns());
  all.set_placing_ns(all.placing_ns() + more.placing_ns());
  all.set_executing_ns(all.executing_ns() + more.executing_ns());
}

}  // namespace

void ProcessPool::Handle(Worker& worker, WorkerReply& reply) {
  if (reply.has_spent()) measure::Add(reply.spent(), stats_.spent);
  if (reply.has_ready()) return HandleReady(worker, reply.ready());
  if (!worker.job) {
    if (reply.has_failed()) {
      FailStart(worker, reply.failed().fault(), reply.failed().message());
    }
    return;
  }
  const Job& job = *worker.job;
  if (reply.has_built()) {
    WorkerReply::Built& built = *reply.mutable_built();
    job.build->built = std::move(*built.mutable_built());
    job.build->build_ns = built.build_ns();
    job.build->done = true;
    cache_.Grown(*job.build);
    FinishJob(worker, BuiltEvent(*job.build));
  } else if (reply.has_prepared()) {
    worker.loaded.insert(job.candidate);
    if (job.kind == PoolEvent::Kind::kMeasured) return SendMeasure(worker);
    FinishJob(worker, {});
  } else if (reply.has_verifying()) {
    // A run in a child ends at that limit by itself.
    worker.deadline_ns = DeadlineNs(2 * options_.verify_limit_s);
  } else if (reply.has_executing()) {
    worker.deadline_ns = DeadlineNs(job.limit_s);
    worker.executing = true;
    if (reply.executing().has_verification()) {
      job.build->verification = reply.executing().verification();
    }
  } else if (reply.has_samples()) {
    worker.deadline_ns = DeadlineNs(job.limit_s);
    worker.latencies_ns.insert(worker.latencies_ns.end(),
                               reply.samples().latencies_ns().begin(),
                               reply.samples().latencies_ns().end());
  } else if (reply.has_measured()) {
    PoolEvent event;
    event.latencies_ns = std::move(worker.latencies_ns);
    event.duration_ns = static_cast<double>(reply.measured().duration_ns());
    event.executions = reply.measured().executions();
    event.verification = job.build->verification;
    FinishJob(worker, std::move(event));
  } else if (reply.has_failed()) {
    const WorkerReply::Failed& failed = reply.failed();
    FailJob(worker, {failed.outcome(), failed.fault(), failed.message(),
                     failed.signal(), failed.context_lost()});
  }
}

// The job came to a good end.
void ProcessPool::FinishJob(Worker& worker, PoolEvent event) {
  event.kind = worker.job->kind;
  event.candidate = worker.job->candidate;
  event.alone = worker.job->alone;
  worker.job.reset();
  worker.deadline_ns = kNever;
  worker.failed_starts = 0;
  Emit(std::move(event));
}

void ProcessPool::HandleEnd(Worker& worker) {
  const Ending ending = worker.process.End();
  Failure failure{Measurement::RUN_ERROR, Measurement::CANDIDATE,
                  absl::StrCat("it ", ending.ToString()), ending.signal, true};
  if (ending.signal == SIGKILL) failure.fault = Measurement::INFRASTRUCTURE;
  if (ending.exit_status == kOutOfMemoryExit) {
    failure.outcome = Measurement::OUT_OF_MEMORY;
    failure.message = "it needs more memory than a worker may have";
  }
  if (worker.is_builder) failure.outcome = Measurement::BUILD_ERROR;
  if (worker.job) return FailJob(worker, failure);
  FailStart(worker, Measurement::INFRASTRUCTURE,
            absl::StrCat("a worker ", ending.ToString()));
}

void ProcessPool::HandleDeadline(Worker& worker) {
  worker.process.Kill();
  if (!worker.job) {
    return FailStart(worker, Measurement::INFRASTRUCTURE,
                     absl::StrCat("a worker did not start within ",
                                  options_.start_limit_s, " s"));
  }
  if (worker.is_builder) {
    return FailJob(worker, {Measurement::BUILD_ERROR, Measurement::CANDIDATE,
                            absl::StrCat("was not built within ",
                                         options_.build_limit_s, " s"),
                            0, true});
  }
  FailJob(worker, {Measurement::TIMEOUT, Measurement::CANDIDATE,
                   "no execution ended within its limit of time", 0, true});
}

}  // namespace tilewright::measure
