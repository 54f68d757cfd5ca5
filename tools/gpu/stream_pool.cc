#include "tools/gpu/stream_pool.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

using measure::Measurement;
using measure::PoolEvent;

constexpr char kDecision[] = "kernel";

PoolEvent Event(PoolEvent::Kind kind, int candidate) {
  PoolEvent event;
  event.kind = kind;
  event.candidate = candidate;
  return event;
}

void Fail(const absl::Status& status, PoolEvent& event) {
  event.outcome = absl::IsResourceExhausted(status) ? Measurement::OUT_OF_MEMORY
                                                    : Measurement::RUN_ERROR;
  event.message = std::string(status.message());
}

}  // namespace

StreamPool::StreamPool(backends::Device* device,
                       const backends::DeviceModule* module,
                       std::vector<CheckKernel> kernels, int workers)
    : device_(device),
      module_(module),
      kernels_(std::move(kernels)),
      workers_(workers) {}

StreamPool::~StreamPool() {
  for (Candidate& candidate : candidates_) {
    if (candidate.thread.joinable()) candidate.thread.join();
  }
}

sketch::ScheduleProto StreamPool::ScheduleOf(int index) {
  sketch::ScheduleProto schedule;
  sketch::DecisionProto& decision = *schedule.add_decisions();
  decision.set_name(kDecision);
  decision.set_value(absl::StrCat(index));
  return schedule;
}

absl::StatusOr<int> StreamPool::Add(const measure::WorkloadKey&,
                                    const sketch::ScheduleProto& schedule) {
  int index = 0;
  if (schedule.decisions_size() != 1 ||
      schedule.decisions(0).name() != kDecision ||
      !absl::SimpleAtoi(schedule.decisions(0).value(), &index) || index < 0 ||
      index >= static_cast<int>(kernels_.size())) {
    return absl::InvalidArgumentError("a schedule that names no kernel");
  }
  candidates_.emplace_back();
  candidates_.back().kernel = index;
  return static_cast<int>(candidates_.size()) - 1;
}

void StreamPool::Push(PoolEvent event) {
  std::lock_guard<std::mutex> lock(mutex_);
  events_.push_back(std::move(event));
  changed_.notify_all();
}

void StreamPool::Build(int candidate) {
  Push(Event(PoolEvent::Kind::kBuilt, candidate));
}

void StreamPool::Prepare(int candidate, int) {
  Candidate& it = candidates_[static_cast<size_t>(candidate)];
  PoolEvent event = Event(PoolEvent::Kind::kPrepared, candidate);
  auto loaded = LoadedKernel::Load(device_, *module_,
                                   kernels_[static_cast<size_t>(it.kernel)]);
  if (loaded.ok()) {
    it.loaded = *std::move(loaded);
  } else {
    Fail(loaded.status(), event);
  }
  Push(std::move(event));
}

PoolEvent StreamPool::MeasureNow(
    int candidate, const measure::AdaptiveEvaluatorOptions& repeats) {
  LoadedKernel& loaded = *candidates_[static_cast<size_t>(candidate)].loaded;
  PoolEvent event = Event(PoolEvent::Kind::kMeasured, candidate);
  const absl::Status status = [&]() -> absl::Status {
    TW_RETURN_IF_ERROR(loaded.Launch());
    TW_ASSIGN_OR_RETURN(const double error, loaded.WorstError());
    if (!(error <= 1)) {
      event.outcome = Measurement::WRONG_ANSWER;
      event.message = "an error beyond the tolerance";
      return absl::OkStatus();
    }
    event.verification.set_verified(true);
    event.verification.set_reference("float64 loops");
    event.verification.set_largest_error(error);
    const int64_t start_ns = RealClock()->WallNs();
    measure::AdaptiveEvaluator evaluator(repeats);
    while (const int now = evaluator.NextRepeats()) {
      std::vector<double> latencies_ns;
      for (int i = 0; i < now; ++i) {
        TW_ASSIGN_OR_RETURN(
            const int64_t ns,
            device_->TimeNs(loaded.stream(), [&] { return loaded.Launch(); }));
        latencies_ns.push_back(static_cast<double>(ns));
      }
      TW_RETURN_IF_ERROR(evaluator.Add(latencies_ns));
    }
    event.latencies_ns = evaluator.latencies_ns();
    event.executions = static_cast<int64_t>(event.latencies_ns.size());
    event.duration_ns = static_cast<double>(RealClock()->WallNs() - start_ns);
    return absl::OkStatus();
  }();
  if (!status.ok()) Fail(status, event);
  return event;
}

void StreamPool::Measure(int candidate,
                         const measure::AdaptiveEvaluatorOptions& repeats,
                         int) {
  std::thread& thread = candidates_[static_cast<size_t>(candidate)].thread;
  if (thread.joinable()) thread.join();  // its last event was taken
  thread = std::thread(
      [this, candidate, repeats] { Push(MeasureNow(candidate, repeats)); });
}

void StreamPool::Release(int candidate) {
  Candidate& it = candidates_[static_cast<size_t>(candidate)];
  if (it.thread.joinable()) it.thread.join();
  it.loaded.reset();
}

absl::StatusOr<PoolEvent> StreamPool::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !events_.empty(); });
  PoolEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

measure::Method StreamPool::method() const {
  measure::Method method;
  method.set_timer(device_->timer_method() ==
                           backends::TimerMethod::kProfilerActivity
                       ? measure::Method::PROFILER_ACTIVITY
                       : measure::Method::DEVICE_EVENTS);
  method.set_cache(measure::Method::WARM);
  method.set_threads(1);
  return method;
}

}  // namespace tilewright::cuda
