#include "measure/parallel/scripted_pool.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace tilewright::measure {

sketch::ScheduleProto ScriptedPool::Schedule(int i) {
  sketch::ScheduleProto schedule;
  schedule.add_decisions()->set_value(absl::StrCat(i));
  return schedule;
}

std::vector<sketch::ScheduleProto> ScriptedPool::AllSchedules() const {
  std::vector<sketch::ScheduleProto> schedules;
  for (size_t i = 0; i < script_.size(); ++i) {
    schedules.push_back(Schedule(static_cast<int>(i)));
  }
  return schedules;
}

const ScriptedCandidate& ScriptedPool::Of(int candidate) const {
  return script_[static_cast<size_t>(ids_[static_cast<size_t>(candidate)])];
}

absl::StatusOr<int> ScriptedPool::Add(const WorkloadKey&,
                                      const sketch::ScheduleProto& schedule) {
  int id = 0;
  TW_CHECK(absl::SimpleAtoi(schedule.decisions(0).value(), &id));
  ids_.push_back(id);
  return static_cast<int>(ids_.size()) - 1;
}

void ScriptedPool::Build(int candidate) {
  Pending pending;
  pending.event.kind = PoolEvent::Kind::kBuilt;
  pending.event.candidate = candidate;
  pending.event.outcome = Of(candidate).build;
  pending.event.build_ns = 5;
  pending.event.spills = Of(candidate).spills;
  pending_.push_back(pending);
}

void ScriptedPool::Prepare(int candidate, int worker) {
  TW_CHECK(built_.count(candidate) == 1 && prepared_.count(candidate) == 0);
  TW_CHECK_LT(under_way_, workers_);
  workers_used.push_back(worker);
  ++under_way_;
  most_under_way = std::max(most_under_way, under_way_);
  Pending pending;
  pending.event.kind = PoolEvent::Kind::kPrepared;
  pending.event.candidate = candidate;
  pending.event.outcome = Of(candidate).prepare;
  pending_.push_back(pending);
}

void ScriptedPool::Measure(int candidate,
                           const AdaptiveEvaluatorOptions& how_often,
                           int timeout_s) {
  TW_CHECK(prepared_.count(candidate) == 1);
  measured.push_back(ids_[static_cast<size_t>(candidate)]);
  timeouts_s.push_back(timeout_s);
  repeats.push_back(how_often.max_repeats);
  give_up_above_ns.push_back(how_often.give_up_above_ns);
  ++measuring_;
  most_measured = std::max(most_measured, measuring_);
  Pending pending;
  pending.event.kind = PoolEvent::Kind::kMeasured;
  pending.event.candidate = candidate;
  pending.beside_others = measuring_ > 1;
  for (Pending& other : pending_) {
    if (other.event.kind == PoolEvent::Kind::kMeasured) {
      other.beside_others = true;
    }
  }
  pending_.push_back(pending);
}

void ScriptedPool::Release(int candidate) {
  TW_CHECK_EQ(prepared_.erase(candidate), 1);
}

void ScriptedPool::Forget(int candidate) {
  if (fresh_.erase(candidate) == 1) --under_way_;
  prepared_.erase(candidate);
  built_.erase(candidate);
}

absl::StatusOr<PoolEvent> ScriptedPool::Wait() {
  if (broken_) return absl::UnavailableError("the pool is broken");
  if (pending_.empty()) {
    return absl::FailedPreconditionError("nothing is under way");
  }
  Pending pending = pending_.front();
  pending_.pop_front();
  PoolEvent& event = pending.event;
  const ScriptedCandidate& candidate = Of(event.candidate);
  const bool abandoned = abandoned_.count(event.candidate) == 1;
  if (abandoned) event.outcome = Measurement::NOT_MEASURED;
  switch (event.kind) {
    case PoolEvent::Kind::kBuilt:
      if (event.outcome == Measurement::OK) built_.insert(event.candidate);
      break;
    case PoolEvent::Kind::kPrepared:
      if (event.outcome == Measurement::OK) {
        prepared_.insert(event.candidate);
        fresh_.insert(event.candidate);
      } else {
        --under_way_;
      }
      break;
    case PoolEvent::Kind::kMeasured: {
      --measuring_;
      // Measured again, it has its worker already.
      if (fresh_.erase(event.candidate) == 1) --under_way_;
      event.outcome = abandoned               ? Measurement::NOT_MEASURED
                      : pending.beside_others ? candidate.in_parallel
                                              : candidate.alone;
      const double ns =
          pending.beside_others ? candidate.in_parallel_ns : candidate.alone_ns;
      if (event.outcome == Measurement::OK) {
        event.latencies_ns = {ns, ns, ns};
        if (pending.beside_others &&
            !candidate.in_parallel_samples_ns.empty()) {
          event.latencies_ns = candidate.in_parallel_samples_ns;
        }
        event.duration_ns = 4 * ns;
        event.executions = 3;
        event.verification.set_verified(true);
        event.verification.set_reference("the script");
      } else {
        event.message = "as the script says";
        event.alone = candidate.blamed;
        prepared_.erase(event.candidate);
      }
      break;
    }
  }
  return event;
}

Method ScriptedPool::method() const {
  Method method;
  method.set_timer(Method::DEVICE_EVENTS);
  method.set_cache(Method::WARM);
  method.set_threads(1);
  return method;
}

}  // namespace tilewright::measure
