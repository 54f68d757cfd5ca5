#include "measure/parallel/candidate_flow.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "measure/stats/median.h"

namespace tilewright::measure {

namespace {

// `event` is of all visits then.
void Join(const PoolEvent& earlier, PoolEvent& event) {
  event.latencies_ns.insert(event.latencies_ns.begin(),
                            earlier.latencies_ns.begin(),
                            earlier.latencies_ns.end());
  event.duration_ns += earlier.duration_ns;
  event.executions += earlier.executions;
  event.alone = event.alone || earlier.alone;
}

bool AllAbove(double limit_ns, const PoolEvent& event) {
  return std::all_of(event.latencies_ns.begin(), event.latencies_ns.end(),
                     [&](double ns) { return ns > limit_ns; });
}

}  // namespace

CandidateFlow::~CandidateFlow() {
  for (const Entry& entry : entries_) pool_->Forget(entry.id);
}

absl::Status CandidateFlow::Start(
    const WorkloadKey& workload,
    absl::Span<const sketch::ScheduleProto> schedules) {
  for (const sketch::ScheduleProto& schedule : schedules) {
    TW_ASSIGN_OR_RETURN(const int id, pool_->Add(workload, schedule));
    index_of_id_[id] = static_cast<int>(entries_.size());
    entries_.emplace_back().id = id;
    pool_->Build(id);
    ++building_;
  }
  return absl::OkStatus();
}

absl::Status CandidateFlow::WaitForBuilds() {
  while (building_ > 0) TW_RETURN_IF_ERROR(TakeEvent());
  return absl::OkStatus();
}

absl::Status CandidateFlow::TakeEvent() {
  absl::StatusOr<PoolEvent> event =
      watch_.cancellation == nullptr ? pool_->Wait()
                                     : pool_->WaitUnless(*watch_.cancellation);
  if (absl::IsCancelled(event.status())) {
    TW_RETURN_IF_ERROR(AbandonAll());
  }
  TW_RETURN_IF_ERROR(event.status());
  const auto found = index_of_id_.find(event->candidate);
  TW_CHECK(found != index_of_id_.end())
      << "event about an unknown candidate " << event->candidate;
  Take(found->second, *std::move(event));
  return absl::OkStatus();
}

void CandidateFlow::TakeBuilt(int index, PoolEvent& event) {
  Entry& entry = this->entry(index);
  --building_;
  entry.candidate.build_ns = event.build_ns;
  entry.candidate.spills = event.spills;
  const bool ok = event.outcome == Measurement::OK;
  if (ok && (!watch_.wanted || watch_.wanted(index))) {
    built_.push_back(index);
    return;
  }
  if (ok) {
    event.outcome = Measurement::NOT_MEASURED;
    event.message = "it was not wanted once it was built";
  }
  entry.candidate.event = event;
  if (watch_.on_end) watch_.on_end(index);
}

void CandidateFlow::Take(int index, PoolEvent event) {
  Entry& entry = this->entry(index);
  const bool ok = event.outcome == Measurement::OK;
  switch (event.kind) {
    case PoolEvent::Kind::kBuilt:
      TakeBuilt(index, event);
      break;
    case PoolEvent::Kind::kPrepared:
      --preparing_;
      entry.prepared = ok;
      if (ok) {
        prepared_.push_back(index);
      } else {
        End(index);
      }
      break;
    case PoolEvent::Kind::kMeasured:
      --measuring_;
      entry.measuring = false;
      entry.prepared = ok;
      if (ok && !event.latencies_ns.empty()) {
        fastest_ns_ = std::min(fastest_ns_, Median(event.latencies_ns));
      }
      if (ok) Join(entry.earlier, event);
      if (ok && entry.visits_left > 0 && !AllAbove(GiveUpAboveNs(), event)) {
        entry.earlier = event;
        FreeWorker(entry);
        Release(index);
        revisited_.push_back(index);
      } else {
        End(index);
      }
      break;
  }
  entry.candidate.event = std::move(event);
}

absl::Status CandidateFlow::AbandonAll() {
  watch_ = Watch();
  for (const Entry& entry : entries_) pool_->Abandon(entry.id);
  while (building_ + preparing_ + measuring_ > 0) {
    TW_RETURN_IF_ERROR(TakeEvent());
  }
  return absl::OkStatus();
}

void CandidateFlow::End(int index) {
  Entry& entry = this->entry(index);
  FreeWorker(entry);
  if (!entry.visited.empty()) --visited_;
  entry.visits_left = 0;
  entry.visited.clear();
  entry.earlier = PoolEvent();
  ended_.push_back(index);
}

void CandidateFlow::FreeWorker(Entry& entry) {
  if (!std::exchange(entry.holds_worker, false)) return;
  worker_taken_[static_cast<size_t>(entry.worker)] = false;
}

void CandidateFlow::Prepare(int index, int worker) {
  entry(index).worker = worker;
  pool_->Prepare(entry(index).id, worker);
  ++preparing_;
}

int CandidateFlow::Fresh() const {
  return static_cast<int>(
      std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) {
        return entry.holds_worker && entry.visited.empty();
      }));
}

bool CandidateFlow::PrepareNextOf(std::deque<int>& queue) {
  for (auto it = queue.begin(); it != queue.end(); ++it) {
    Entry& entry = this->entry(*it);
    const bool seen_all = entry.visited.size() >= worker_taken_.size();
    for (size_t worker = 0; worker < worker_taken_.size(); ++worker) {
      const int number = static_cast<int>(worker);
      if (worker_taken_[worker] ||
          (!seen_all && entry.visited.count(number) == 1)) {
        continue;
      }
      const int index = *it;
      queue.erase(it);
      worker_taken_[worker] = true;
      entry.holds_worker = true;
      Prepare(index, number);
      return true;
    }
  }
  return false;
}

void CandidateFlow::Measure(int index, const AdaptiveEvaluatorOptions& repeats,
                            int timeout_s) {
  Entry& entry = this->entry(index);
  entry.candidate.disturbed = measuring_ > 0 || (entry.candidate.disturbed &&
                                                 entry.earlier.executions > 0);
  if (measuring_ > 0) {
    for (Entry& other : entries_) {
      if (other.measuring) other.candidate.disturbed = true;
    }
  }
  ++measuring_;
  entry.measuring = true;
  most_measured_ = std::max(most_measured_, measuring_);
  AdaptiveEvaluatorOptions how_often = repeats;
  how_often.give_up_above_ns = GiveUpAboveNs();
  pool_->Measure(entry.id, how_often, timeout_s);
}

absl::StatusOr<std::vector<int>> CandidateFlow::Pass(const Limits& limits) {
  most_measured_ = 0;
  give_up_factor_ = limits.give_up_factor;
  size_t seen = 0;  // of ended_
  while (true) {
    for (; seen < ended_.size(); ++seen) {
      const int index = ended_[seen];
      if (!limits.keep) Release(index);
      if (watch_.on_end) watch_.on_end(index);
    }
    const auto quota_left = [&] {
      return static_cast<int>(ended_.size()) + visited_ < limits.quota;
    };
    while (preparing_ + static_cast<int>(prepared_.size()) + measuring_ <
           limits.under_way) {
      // All have their first visit before one has its second. What is beyond
      // the quota must not take workers that second visits need.
      const int begun = static_cast<int>(ended_.size()) + visited_ + Fresh();
      if (begun < limits.quota && PrepareNextOf(built_)) continue;
      if (PrepareNextOf(revisited_)) continue;
      if (limits.visits > 1 || !PrepareNextOf(built_)) break;
    }
    for (auto it = prepared_.begin();
         it != prepared_.end() && measuring_ < limits.measured;) {
      Entry& entry = this->entry(*it);
      if (entry.visited.empty()) {
        if (!quota_left()) {
          ++it;
          continue;
        }
        entry.visits_left = limits.visits;
        ++visited_;
      }
      const int index = *it;
      it = prepared_.erase(it);
      --entry.visits_left;
      entry.visited.insert(entry.worker);
      Measure(index, repeats_, limits.timeout_s);
    }
    const bool more = building_ > 0 || preparing_ > 0 || !built_.empty() ||
                      !prepared_.empty();
    if (visited_ == 0 && (!quota_left() || !more)) {
      return std::exchange(ended_, {});
    }
    TW_RETURN_IF_ERROR(TakeEvent());
  }
}

absl::Status CandidateFlow::MeasureAlone(
    int index, const AdaptiveEvaluatorOptions& repeats, int timeout_s) {
  TW_CHECK_EQ(measuring_, 0);
  Entry& entry = this->entry(index);
  const bool prepare = !entry.prepared;
  if (prepare) Prepare(index, entry.worker);
  // A candidate that is being prepared already is no company either.
  while (preparing_ > 0) TW_RETURN_IF_ERROR(TakeEvent());
  // It passed before: it neither waits nor ended once more.
  const auto forget = [index](auto& list) {
    list.erase(std::remove(list.begin(), list.end(), index), list.end());
  };
  if (prepare) {
    forget(prepared_);
    forget(ended_);
    if (!entry.prepared) return absl::OkStatus();
  }
  Measure(index, repeats, timeout_s);
  while (measuring_ > 0) TW_RETURN_IF_ERROR(TakeEvent());
  forget(ended_);
  return absl::OkStatus();
}

void CandidateFlow::Release(int index) {
  Entry& entry = this->entry(index);
  if (!entry.prepared) return;
  pool_->Release(entry.id);
  entry.prepared = false;
}

bool CandidateFlow::done() const {
  return building_ == 0 && preparing_ == 0 && measuring_ == 0 &&
         built_.empty() && revisited_.empty() && prepared_.empty() &&
         ended_.empty();
}

}  // namespace tilewright::measure
