#include "measure/worker/measuring_worker.h"

#include <malloc.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/status_macros.h"
#include "measure/machine/steady_core.h"
#include "measure/verify/cpu_spent.h"
#include "measure/verify/verifier.h"
#include "measure/worker/cold_cache.h"
#include "measure/worker/confinement.h"
#include "measure/worker/execute.h"
#include "measure/worker/kept_workloads.h"
#include "measure/worker/loaded_candidate.h"
#include "measure/worker/protocol_version.h"
#include "sketch/trace/workload.h"

namespace tilewright::measure {
namespace {

using backends::TimerMethod;

constexpr int64_t kProbeBytes = 64;
constexpr int kLargeBlockBytes = 1 << 20;
// From here on the CPU's memory has huge pages.
constexpr int64_t kLeastBytes = int64_t{2} << 20;

// Constants of which there are more make no kernel slow.
constexpr int64_t kMostConstantCopies = 64;

Method::Timer MethodTimer(TimerMethod method) {
  return static_cast<Method::Timer>(static_cast<int>(method) + 1);
}

class MeasuringWorker {
 public:
  MeasuringWorker(MessageChannel& channel, const WorkerBackend& backend,
                  const WorkerSetup& setup)
      : channel_(channel),
        backend_(backend),
        setup_(setup),
        workloads_(setup.kept_bytes(), setup.input_seed()) {}

  absl::Status Serve();

 private:
  struct Failure {
    Measurement::Outcome outcome;
    absl::Status status;
    int signal = 0;
    // Not the candidate's, and nothing can be measured here any more.
    bool worker_lost = false;
  };

  absl::Status SetUp();
  absl::Status Reply(const WorkerReply& reply) {
    return channel_.SendAll(reply);
  }
  // The reply that ends a request.
  absl::Status ReplyLast(WorkerReply& reply) {
    *reply.mutable_spent() = std::exchange(spent_, {});
    return Reply(reply);
  }
  // CPU time since it was asked last.
  int64_t TakeCpuNs() {
    const int64_t before_ns = std::exchange(cpu_ns_, CpuSpentNs());
    return cpu_ns_ - before_ns;
  }
  absl::Status ReplyFailed(const Failure& failure);

  absl::Status Prepare(WorkerRequest::Prepare& request);
  // Of its constants, so that none is in a cache when its turn comes again; one
  // unless they are to be fresh.
  int ConstantCopies(const LoadedCandidate& loaded) const;
  // Memory for arguments of so many bytes.
  absl::Status Reserve(int64_t size_bytes);
  absl::Status Measure(const WorkerRequest::Measure& request);
  // None: it is right.
  absl::StatusOr<std::optional<Failure>> Verify(const LoadedCandidate& loaded,
                                                KeptWorkload& state,
                                                Verification& verification);
  // Whether the device still does what it is asked to.
  absl::Status Probe();

  MessageChannel& channel_;
  const WorkerBackend& backend_;
  const WorkerSetup& setup_;
  Method method_;
  std::unique_ptr<backends::Device> device_;
  std::unique_ptr<backends::Stream> stream_;
  std::unique_ptr<backends::Timer> timer_;
  std::unique_ptr<backends::DeviceBuffer> probe_;
  std::optional<CacheFlusher> flusher_;
  std::optional<SteadyCore> core_;
  KeptWorkloads workloads_;
  struct Held {
    std::string workload;
    std::unique_ptr<LoadedCandidate> loaded;
  };
  std::map<int, Held> held_;  // by candidate
  // The arguments of the candidate that was measured last. Which physical pages
  // they have decides what shares a set of the caches, and may be worth a fifth
  // of the latency: all candidates of this worker have the same ones.
  std::unique_ptr<backends::DeviceBuffer> memory_;
  const LoadedCandidate* placed_ = nullptr;
  Spent spent_;  // on the request that is being served
  int64_t cpu_ns_ = 0;
};

absl::Status MeasuringWorker::SetUp() {
  method_ = setup_.method();
  if (method_.threads() < 1) method_.set_threads(1);
  if (method_.cache() == Method::CACHE_UNSPECIFIED) {
    method_.set_cache(Method::WARM);
  }
  TW_ASSIGN_OR_RETURN(
      device_, backend_.device(setup_.backend_options(), method_.threads()));
  TW_ASSIGN_OR_RETURN(stream_, device_->CreateStream());
  const TimerMethod timer = method_.timer() == Method::TIMER_UNSPECIFIED
                                ? device_->timer_method()
                                : static_cast<TimerMethod>(method_.timer() - 1);
  TW_ASSIGN_OR_RETURN(timer_, backend_.timer(device_.get(), timer));
  method_.set_timer(MethodTimer(timer_->method()));
  if (method_.cache() == Method::COLD) {
    TW_ASSIGN_OR_RETURN(flusher_, CacheFlusher::Create(*device_));
  }
  if (setup_.wait_for_steady_core() && backend_.core_work)
    core_.emplace(SteadyCore::OfThisThread(backend_.core_work));
  TW_ASSIGN_OR_RETURN(probe_, device_->Allocate(kProbeBytes));
  return Probe();
}

absl::Status MeasuringWorker::Probe() {
  TW_RETURN_IF_ERROR(stream_->Fill(probe_->address(), 0, kProbeBytes));
  return stream_->Synchronize();
}

absl::Status MeasuringWorker::ReplyFailed(const Failure& failure) {
  WorkerReply reply;
  WorkerReply::Failed& failed = *reply.mutable_failed();
  failed.set_outcome(failure.outcome);
  // Nothing that a candidate does sends this signal.
  failed.set_fault(failure.signal == SIGKILL || failure.worker_lost
                       ? Measurement::INFRASTRUCTURE
                       : Measurement::CANDIDATE);
  failed.set_message(std::string(failure.status.message()));
  failed.set_signal(failure.signal);
  failed.set_context_lost(failure.worker_lost || !Probe().ok());
  if (failed.context_lost()) failed.set_outcome(Measurement::RUN_ERROR);
  return ReplyLast(reply);
}

Measurement::Outcome OutcomeOf(const absl::Status& status) {
  return absl::IsResourceExhausted(status) ? Measurement::OUT_OF_MEMORY
                                           : Measurement::RUN_ERROR;
}

absl::Status MeasuringWorker::Reserve(int64_t size_bytes) {
  size_bytes = std::max(size_bytes, kLeastBytes);
  if (memory_ != nullptr && memory_->size_bytes() >= size_bytes) {
    return absl::OkStatus();
  }
  placed_ = nullptr;
  memory_.reset();
  TW_ASSIGN_OR_RETURN(memory_, device_->Allocate(size_bytes));
  return absl::OkStatus();
}

int MeasuringWorker::ConstantCopies(const LoadedCandidate& loaded) const {
  const int64_t bytes = loaded.constant_bytes();
  if (method_.cache() != Method::FRESH_CONSTANTS || bytes == 0) return 1;
  return static_cast<int>(std::clamp(ColdBytes(device_->spec()) / bytes + 1,
                                     int64_t{1}, kMostConstantCopies));
}

absl::Status MeasuringWorker::Prepare(WorkerRequest::Prepare& request) {
  const absl::StatusOr<KeptWorkload*> state =
      workloads_.Get(request.workload());
  if (!state.ok()) {
    return ReplyFailed({Measurement::RUN_ERROR, state.status()});
  }
  absl::StatusOr<std::unique_ptr<LoadedCandidate>> loaded =
      LoadedCandidate::Load(device_.get(), stream_.get(),
                            (*state)->workload.graph,
                            std::move(*request.mutable_built()));
  if (!loaded.ok()) {
    return ReplyFailed({OutcomeOf(loaded.status()), loaded.status()});
  }
  const absl::Status reserved =
      Reserve((*loaded)->argument_bytes(ConstantCopies(**loaded)));
  if (!reserved.ok()) return ReplyFailed({OutcomeOf(reserved), reserved});
  held_[request.candidate()] = {request.workload(), *std::move(loaded)};
  WorkerReply reply;
  reply.mutable_prepared();
  spent_.set_loading_ns(TakeCpuNs());
  return ReplyLast(reply);
}

absl::StatusOr<std::optional<MeasuringWorker::Failure>> MeasuringWorker::Verify(
    const LoadedCandidate& loaded, KeptWorkload& state,
    Verification& verification) {
  WorkerReply progress;
  progress.mutable_verifying();
  TW_RETURN_IF_ERROR(Reply(progress));
  if (state.verifier == nullptr) {
    VerifierOptions options;
    options.seed = setup_.input_seed();
    options.threads = std::max(1, setup_.verify_threads());
    options.timeout_seconds = setup_.verify_limit_s();
    options.kept_bytes = std::min(options.kept_bytes, setup_.kept_bytes());
    absl::StatusOr<std::unique_ptr<Verifier>> verifier =
        Verifier::Create(state.workload, options);
    if (!verifier.ok()) {
      return Failure{Measurement::RUN_ERROR, verifier.status()};
    }
    state.verifier = *std::move(verifier);
    spent_.set_reference_ns(TakeCpuNs());
    TW_RETURN_IF_ERROR(Reply(progress));
  }
  const absl::StatusOr<Verdict> verdict =
      backend_.verifying_device != nullptr
          ? state.verifier->Check(loaded.arguments(),
                                  DeviceCandidate(backend_.verifying_device,
                                                  loaded.module_kernel()),
                                  Isolation::kChild)
          : state.verifier->Check(
                loaded.arguments(),
                CandidateOnDevice(device_.get(), stream_.get(),
                                  loaded.module_kernel()),
                Isolation::kInProcess);
  if (!verdict.ok()) {
    return Failure{OutcomeOf(verdict.status()), verdict.status()};
  }
  spent_.set_packing_ns(verdict->packing_ns);
  spent_.set_verifying_ns(verdict->running_ns);
  spent_.set_comparing_ns(verdict->comparing_ns);
  if (!verdict->ok) {
    const Measurement::Outcome outcome =
        verdict->ran         ? Measurement::WRONG_ANSWER
        : verdict->timed_out ? Measurement::TIMEOUT
                             : Measurement::RUN_ERROR;
    return Failure{outcome, absl::InternalError(verdict->reason),
                   verdict->timed_out ? 0 : verdict->signal};
  }
  verification.set_verified(true);
  verification.set_reference("float64 loops");
  verification.set_largest_error(verdict->largest_error);
  verification.set_unbounded_share(verdict->unbounded_share);
  verification.set_bits(verdict->bits);
  return std::optional<Failure>();
}

absl::Status MeasuringWorker::Measure(const WorkerRequest::Measure& request) {
  const auto held = held_.find(request.candidate());
  if (held == held_.end()) {
    return ReplyFailed({Measurement::RUN_ERROR,
                        absl::FailedPreconditionError("it is not prepared")});
  }
  LoadedCandidate& loaded = *held->second.loaded;
  WorkerReply executing;
  executing.mutable_executing();
  if (request.verify()) {
    TW_ASSIGN_OR_RETURN(KeptWorkload* const state,
                        workloads_.Get(held->second.workload));
    TW_ASSIGN_OR_RETURN(
        const std::optional<Failure> failure,
        Verify(loaded, *state,
               *executing.mutable_executing()->mutable_verification()));
    if (failure) return ReplyFailed(*failure);
  }
  if (placed_ != &loaded) {
    TW_ASSIGN_OR_RETURN(KeptWorkload* const state,
                        workloads_.Get(held->second.workload));
    placed_ = nullptr;
    (void)TakeCpuNs();
    const absl::Status placed =
        loaded.Place(memory_->address(), ConstantCopies(loaded),
                     state->workload.graph, state->inputs, state->packed);
    if (!placed.ok()) return ReplyFailed({OutcomeOf(placed), placed});
    placed_ = &loaded;
    spent_.set_placing_ns(TakeCpuNs());
  }
  workloads_.Shrink();
  TW_RETURN_IF_ERROR(Reply(executing));
  const auto report = [this](const std::vector<double>& latencies_ns) {
    WorkerReply samples;
    samples.mutable_samples()->mutable_latencies_ns()->Add(latencies_ns.begin(),
                                                           latencies_ns.end());
    return Reply(samples);
  };
  TW_ASSIGN_OR_RETURN(const absl::StatusOr<Executions> executed,
                      Execute(loaded, request.repeats(), *stream_, *timer_,
                              flusher_ ? &*flusher_ : nullptr,
                              core_ ? &*core_ : nullptr, report));
  spent_.set_executing_ns(TakeCpuNs());
  if (!executed.ok()) {
    return ReplyFailed({OutcomeOf(executed.status()), executed.status()});
  }
  if (MethodTimer(timer_->method()) != method_.timer()) {
    return ReplyFailed(
        {Measurement::RUN_ERROR,
         absl::UnavailableError("the device's clock is another one now"),
         /*signal=*/0, /*worker_lost=*/true});
  }
  const absl::Status usable = Probe();
  if (!usable.ok()) {
    return ReplyFailed({Measurement::RUN_ERROR,
                        absl::InternalError("it leaves the device unusable: " +
                                            std::string(usable.message()))});
  }
  WorkerReply reply;
  reply.mutable_measured()->set_duration_ns(executed->duration_ns);
  reply.mutable_measured()->set_executions(executed->count);
  return ReplyLast(reply);
}

absl::Status MeasuringWorker::Serve() {
  // Freed memory goes back to the system, so that children are not forked with
  // it (hidden_bytes.h).
  mallopt(M_MMAP_THRESHOLD, kLargeBlockBytes);
  mallopt(M_TRIM_THRESHOLD, kLargeBlockBytes);
  WorkerReply reply;
  const absl::Status set_up = SetUp();
  if (!set_up.ok()) {
    reply.mutable_failed()->set_fault(Measurement::DEVICE);
    reply.mutable_failed()->set_message(std::string(set_up.message()));
    return Reply(reply);
  }
  LimitResources(setup_.address_space_bytes());
  const absl::Status forbidden = ForbidSystemCalls(backend_.opens_devices);
  reply.mutable_ready()->set_confinement(
      forbidden.ok() ? "system calls are filtered"
                     : std::string(forbidden.message()));
  *reply.mutable_ready()->mutable_method() = method_;
  reply.mutable_ready()->set_protocol_version(kProtocolVersion);
  TW_RETURN_IF_ERROR(Reply(reply));
  while (true) {
    WorkerRequest request;
    TW_RETURN_IF_ERROR(channel_.Receive(request));
    (void)TakeCpuNs();
    if (request.has_prepare()) {
      TW_RETURN_IF_ERROR(Prepare(*request.mutable_prepare()));
    } else if (request.has_measure()) {
      TW_RETURN_IF_ERROR(Measure(request.measure()));
    } else if (request.has_release()) {
      const auto held = held_.find(request.release().candidate());
      if (held == held_.end()) continue;
      if (placed_ == held->second.loaded.get()) placed_ = nullptr;
      held_.erase(held);
    }
  }
}

}  // namespace

absl::Status ServeMeasurements(MessageChannel& channel,
                               const WorkerBackend& backend,
                               const WorkerSetup& setup) {
  return MeasuringWorker(channel, backend, setup).Serve();
}

}  // namespace tilewright::measure
