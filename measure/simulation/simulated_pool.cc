#include "measure/simulation/simulated_pool.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace tilewright::measure {

using fake::Fault;

sketch::ScheduleProto SimulatedSchedule(int candidate) {
  sketch::ScheduleProto schedule;
  sketch::DecisionProto& decision = *schedule.add_decisions();
  decision.set_name("candidate");
  decision.set_value(absl::StrCat(candidate));
  return schedule;
}

SimulatedPool::SimulatedPool(const fake::Setting& setting,
                             const fake::FakeProgram* program,
                             const SimulatedPoolOptions& options)
    : setting_(setting),
      program_(program),
      options_(options),
      device_(options.constants),
      random_(options.seed),
      built_(program->candidates.size()) {}

absl::StatusOr<int> SimulatedPool::Add(const WorkloadKey&,
                                       const sketch::ScheduleProto& schedule) {
  int index = 0;
  if (schedule.decisions_size() != 1 ||
      !absl::SimpleAtoi(schedule.decisions(0).value(), &index) || index < 0 ||
      index >= static_cast<int>(program_->candidates.size())) {
    return absl::InvalidArgumentError("no schedule of the simulated program");
  }
  known_.push_back({&program_->candidates[static_cast<size_t>(index)], index});
  return static_cast<int>(known_.size()) - 1;
}

void SimulatedPool::Build(int candidate) {
  to_build_.push_back(candidate);
  StartBuilds();
}

void SimulatedPool::StartBuilds() {
  while (building_ < options_.builders && !to_build_.empty()) {
    Task task;
    task.candidate = to_build_.front();
    to_build_.pop_front();
    const Known& candidate = known(task.candidate);
    const size_t index = static_cast<size_t>(candidate.program_index);
    task.until_ns =
        now_ns() + (built_[index] ? 0 : candidate.candidate->build_ns);
    built_[index] = true;
    tasks_.push_back(task);
    ++building_;
  }
}

void SimulatedPool::Prepare(int candidate, int) {
  Task task;
  task.candidate = candidate;
  task.phase = Phase::kStarting;
  task.until_ns = now_ns();
  if (!setting_.new_context_per_candidate && warm_contexts_ > 0) {
    --warm_contexts_;
  } else {
    task.until_ns += options_.constants.context_start_ns;
  }
  known(candidate).holds_worker = true;
  tasks_.push_back(task);
}

void SimulatedPool::Measure(int candidate,
                            const AdaptiveEvaluatorOptions& repeats,
                            int timeout_s) {
  Task task;
  task.candidate = candidate;
  task.phase = Phase::kLaunching;
  task.until_ns = now_ns() + options_.constants.launch_ns;
  task.begin_ns = now_ns();
  task.timeout_ns = timeout_s * 1e9;
  task.deadline_ns = now_ns() + task.timeout_ns;
  task.evaluator = std::make_shared<AdaptiveEvaluator>(repeats);
  tasks_.push_back(std::move(task));
}

void SimulatedPool::FreeWorker(int candidate, bool loses_context) {
  if (known(candidate).holds_worker && !loses_context) ++warm_contexts_;
  known(candidate).holds_worker = false;
}

PoolEvent SimulatedPool::Fail(const Task& task, Measurement::Outcome outcome,
                              const char* message, bool loses_context) {
  PoolEvent event;
  event.candidate = task.candidate;
  event.kind = task.phase == Phase::kStarting ? PoolEvent::Kind::kPrepared
                                              : PoolEvent::Kind::kMeasured;
  event.outcome = outcome;
  event.message = message;
  event.fault = Measurement::CANDIDATE;
  FreeWorker(task.candidate, loses_context);
  return event;
}

void SimulatedPool::Execute(Task& task) {
  const fake::FakeCandidate& candidate = *known(task.candidate).candidate;
  double latency_ns = candidate.base_latency_ns;
  if (random_.Bernoulli(options_.constants.outlier_share)) {
    latency_ns *= options_.constants.outlier_factor;
  }
  if (candidate.fault == Fault::kHang) latency_ns = kNever;
  task.phase = Phase::kExecuting;
  task.execution_begin_ns = now_ns();
  task.kernel = device_.Start(program_->demand, latency_ns);
}

bool SimulatedPool::TimeCame(Task& task, PoolEvent& event) {
  const fake::FakeCandidate& candidate = *known(task.candidate).candidate;
  switch (task.phase) {
    case Phase::kBuilding:
      event.kind = PoolEvent::Kind::kBuilt;
      event.build_ns = candidate.build_ns;
      return true;
    case Phase::kStarting:
      event.kind = PoolEvent::Kind::kPrepared;
      if (candidate.fault == Fault::kOutOfMemory) {
        event = Fail(task, Measurement::OUT_OF_MEMORY,
                     "the device has no memory for it", false);
      }
      return true;
    case Phase::kLaunching:
      if (candidate.fault == Fault::kCrash) {
        event = Fail(task, Measurement::RUN_ERROR, "it crashed", true);
        event.signal = SIGSEGV;
        return true;
      }
      Execute(task);
      return false;
    case Phase::kExecuting:
      break;
  }
  return EndExecution(task, event);
}

bool SimulatedPool::EndExecution(Task& task, PoolEvent& event) {
  device_.Finish();
  Known& candidate = known(task.candidate);
  task.deadline_ns = now_ns() + task.timeout_ns;
  task.phase = Phase::kLaunching;
  task.until_ns = now_ns() + options_.constants.launch_ns;
  if (!candidate.verified) {
    if (candidate.candidate->fault == Fault::kWrongResult) {
      event = Fail(task, Measurement::WRONG_ANSWER, "wrong result", false);
      return true;
    }
    if (candidate.candidate->fault == Fault::kStickyError) {
      event = Fail(task, Measurement::RUN_ERROR, "sticky device error", true);
      return true;
    }
    candidate.verified = true;
    task.begin_ns = now_ns();
    return false;
  }
  task.micro_batch_ns.push_back(now_ns() - task.execution_begin_ns);
  AdaptiveEvaluator& evaluator = *task.evaluator;
  if (static_cast<int>(task.micro_batch_ns.size()) < evaluator.NextRepeats()) {
    return false;
  }
  TW_CHECK_OK(evaluator.Add(task.micro_batch_ns));
  task.micro_batch_ns.clear();
  if (evaluator.NextRepeats() > 0) return false;
  event.kind = PoolEvent::Kind::kMeasured;
  event.latencies_ns = evaluator.latencies_ns();
  event.executions = static_cast<int64_t>(event.latencies_ns.size());
  event.duration_ns = now_ns() - task.begin_ns;
  event.verification.set_verified(true);
  event.verification.set_reference("the fake device");
  FreeWorker(task.candidate, false);
  return true;
}

absl::StatusOr<PoolEvent> SimulatedPool::Wait() {
  while (true) {
    // The next event is a task's own time, its deadline, or the device's next
    // completion.
    double first_ns = kNever;
    size_t which = 0;
    bool deadline = false;
    const std::optional<fake::SharedDevice::Completion> next = device_.Next();
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const Task& task = tasks_[i];
      double time_ns = task.until_ns;
      if (task.phase == Phase::kExecuting) {
        time_ns = next && next->kernel == task.kernel ? next->time_ns : kNever;
      }
      if (std::min(time_ns, task.deadline_ns) < first_ns) {
        deadline = task.deadline_ns < time_ns;
        first_ns = std::min(time_ns, task.deadline_ns);
        which = i;
      }
    }
    if (first_ns == kNever) {
      return absl::FailedPreconditionError("nothing is under way");
    }
    Task& task = tasks_[which];
    PoolEvent event;
    event.candidate = task.candidate;
    bool ended = true;
    if (deadline) {
      device_.AdvanceTo(first_ns);
      if (task.phase == Phase::kExecuting) device_.Stop(task.kernel);
      event = Fail(task, Measurement::TIMEOUT, "no progress", true);
    } else {
      if (task.phase != Phase::kExecuting) device_.AdvanceTo(first_ns);
      ended = TimeCame(task, event);
    }
    if (!ended) continue;
    tasks_.erase(tasks_.begin() + static_cast<std::ptrdiff_t>(which));
    if (event.kind == PoolEvent::Kind::kBuilt) {
      --building_;
      StartBuilds();
    }
    return event;
  }
}

Method SimulatedPool::method() const {
  Method method;
  method.set_timer(Method::DEVICE_EVENTS);
  method.set_cache(Method::WARM);
  method.set_threads(1);
  return method;
}

}  // namespace tilewright::measure
