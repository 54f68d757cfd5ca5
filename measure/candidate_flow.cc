#include "measure/candidate_flow.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"

namespace tilewright::measure {

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
  TW_ASSIGN_OR_RETURN(PoolEvent event, pool_->Wait());
  const auto found = index_of_id_.find(event.candidate);
  TW_CHECK(found != index_of_id_.end())
      << "event about an unknown candidate " << event.candidate;
  const int index = found->second;
  Entry& entry = this->entry(index);
  const bool ok = event.outcome == Measurement::OK;
  switch (event.kind) {
    case PoolEvent::Kind::kBuilt:
      --building_;
      entry.candidate.build_ns = event.build_ns;
      if (ok) built_.push_back(index);
      break;
    case PoolEvent::Kind::kPrepared:
      --preparing_;
      entry.prepared = ok;
      if (ok) {
        prepared_.push_back(index);
      } else {
        ended_.push_back(index);
      }
      break;
    case PoolEvent::Kind::kMeasured:
      --measuring_;
      entry.measuring = false;
      entry.prepared = ok;
      ended_.push_back(index);
      break;
  }
  entry.candidate.event = std::move(event);
  return absl::OkStatus();
}

void CandidateFlow::Prepare(int index) {
  pool_->Prepare(entry(index).id);
  ++preparing_;
}

void CandidateFlow::Measure(int index, const AdaptiveEvaluatorOptions& repeats,
                            int timeout_s) {
  Entry& entry = this->entry(index);
  entry.candidate.disturbed = measuring_ > 0;
  if (measuring_ > 0) {
    for (Entry& other : entries_) {
      if (other.measuring) other.candidate.disturbed = true;
    }
  }
  ++measuring_;
  entry.measuring = true;
  most_measured_ = std::max(most_measured_, measuring_);
  pool_->Measure(entry.id, repeats, timeout_s);
}

absl::StatusOr<std::vector<int>> CandidateFlow::Pass(const Limits& limits) {
  most_measured_ = 0;
  size_t released = 0;  // of ended_
  while (true) {
    for (; released < ended_.size() && !limits.keep; ++released) {
      Release(ended_[released]);
    }
    while (!built_.empty() &&
           preparing_ + static_cast<int>(prepared_.size()) + measuring_ <
               limits.under_way) {
      const int index = built_.front();
      built_.pop_front();
      Prepare(index);
    }
    const auto quota_left = [&] {
      return static_cast<int>(ended_.size()) + measuring_ < limits.quota;
    };
    while (!prepared_.empty() && measuring_ < limits.measured && quota_left()) {
      const int index = prepared_.front();
      prepared_.pop_front();
      Measure(index, repeats_, limits.timeout_s);
    }
    const bool more = building_ > 0 || preparing_ > 0 || !built_.empty() ||
                      !prepared_.empty();
    if (measuring_ == 0 && (!quota_left() || !more)) {
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
  if (prepare) Prepare(index);
  // What is being prepared already is no company either.
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
         built_.empty() && prepared_.empty() && ended_.empty();
}

}  // namespace tilewright::measure
