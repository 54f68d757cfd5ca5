#include "measure/jobs/queue_model.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tilewright::measure {

using JobState = JobStatus::State;

bool QueueModel::Job::over() const {
  return state == JobState::kCancelled ||
         (state == JobState::kClosed &&
          std::all_of(events.begin(), events.end(),
                      [](const auto& event) { return event.second > 0; }));
}

void QueueModel::Open(int64_t now_ns) {
  for (auto& [lease, until_ns] : leases_) {
    until_ns = std::max(until_ns, now_ns + lease_ns_);
  }
}

QueueModel::Job* QueueModel::Latest(const std::string& key) {
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) {
    if (job->key == key) return &*job;
  }
  return nullptr;
}

void QueueModel::Tell(const std::string& task) {
  ++last_event_;
  for (Job& job : jobs_) {
    const auto event = job.events.find(task);
    if (event != job.events.end() && event->second == 0) {
      event->second = last_event_;
    }
  }
}

void QueueModel::Submit(const std::string& key,
                        const std::vector<std::string>& tasks) {
  Job* job = Latest(key);
  if (job == nullptr || job->state != JobState::kOpen) {
    jobs_.emplace_back().key = key;
    job = &jobs_.back();
  }
  for (const std::string& id : tasks) {
    const auto [known, is_new] = tasks_.try_emplace(id);
    Task& task = known->second;
    if (is_new) task.order = ++last_order_;
    if (!job->events.emplace(id, 0).second) continue;
    if (task.state == State::kGivenUp) {
      task.state = State::kWaiting;
      task.losses = 0;
    }
    if (task.state == State::kDone) Tell(id);
  }
}

void QueueModel::Close(const std::string& key) {
  Job* const job = Latest(key);
  if (job->state == JobState::kOpen) job->state = JobState::kClosed;
}

void QueueModel::Cancel(const std::string& key) {
  Job* const job = Latest(key);
  if (job->over()) return;
  job->state = JobState::kCancelled;
  DropUnwanted();
}

bool QueueModel::Wanted(const std::string& task) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) {
    return job.state != JobState::kCancelled && job.events.count(task) == 1;
  });
}

void QueueModel::DropUnwanted() {
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    if (task->second.state != State::kWaiting) {
      ++task;
      continue;
    }
    bool has_job = false;
    for (Job& job : jobs_) {
      const auto event = job.events.find(task->first);
      if (event == job.events.end()) continue;
      if (job.state == JobState::kCancelled && event->second == 0) {
        job.events.erase(event);
      } else {
        has_job = true;
      }
    }
    task = has_job ? std::next(task) : tasks_.erase(task);
  }
}

void QueueModel::End(int lease, bool lost) {
  for (auto& [id, task] : tasks_) {
    if (task.state != State::kLeased || task.lease != lease) continue;
    task.state = State::kWaiting;
    task.lease = 0;
    if (lost && ++task.losses >= most_losses_) {
      task.state = State::kGivenUp;
      Tell(id);
    }
  }
  leases_.erase(lease);
  DropUnwanted();
}

void QueueModel::Expire(int64_t now_ns) {
  const std::map<int, int64_t> before = leases_;
  for (const auto& [lease, until_ns] : before) {
    if (until_ns < now_ns) End(lease, /*lost=*/true);
  }
}

int QueueModel::Lease(int most, int64_t now_ns,
                      std::vector<std::string>& tasks) {
  Expire(now_ns);
  std::vector<std::pair<int, std::string>> waiting;
  for (const auto& [id, task] : tasks_) {
    if (task.state == State::kWaiting && Wanted(id)) {
      waiting.emplace_back(task.order, id);
    }
  }
  if (waiting.empty()) return 0;
  std::sort(waiting.begin(), waiting.end());
  const int lease = ++last_lease_;
  leases_[lease] = now_ns + lease_ns_;
  const bool alone = tasks_[waiting[0].second].losses > 0;
  for (size_t i = 0; i < waiting.size(); ++i) {
    Task& task = tasks_[waiting[i].second];
    if (i > 0 && (alone || task.losses > 0)) continue;
    if (static_cast<int>(tasks.size()) == most) break;
    task.state = State::kLeased;
    task.lease = lease;
    tasks.push_back(waiting[i].second);
  }
  return lease;
}

char QueueModel::Heartbeat(int lease, int64_t now_ns) {
  Expire(now_ns);
  if (leases_.count(lease) == 0) return 'l';
  leases_[lease] = now_ns + lease_ns_;
  for (const auto& [id, task] : tasks_) {
    if (task.state == State::kLeased && task.lease == lease && Wanted(id)) {
      return 'w';
    }
  }
  return 'u';
}

Completion QueueModel::Complete(int lease, const std::string& id,
                                const std::string& result, int64_t now_ns) {
  Expire(now_ns);
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || lease == 0 || found->second.lease != lease) {
    return Completion::kStale;
  }
  Task& task = found->second;
  if (task.state == State::kDone) return Completion::kRepeated;
  if (task.state != State::kLeased) return Completion::kStale;
  task.state = State::kDone;
  task.result = result;
  Tell(id);
  const bool more = std::any_of(tasks_.begin(), tasks_.end(), [&](auto& other) {
    return other.second.state == State::kLeased && other.second.lease == lease;
  });
  if (!more) leases_.erase(lease);
  return Completion::kAccepted;
}

void QueueModel::GiveBack(int lease, bool lost, int64_t now_ns) {
  Expire(now_ns);
  End(lease, lost);
}

std::string QueueModel::Seen() const {
  std::string seen = absl::StrCat("leases ", leases_.size(), "\n");
  for (const Job& job : jobs_) {
    std::map<int, std::string> events;
    int leased = 0;
    for (const auto& [task, event] : job.events) {
      if (event > 0) events[event] = task;
      leased += tasks_.at(task).state == State::kLeased;
    }
    absl::StrAppend(&seen, "job ", job.key, " ", static_cast<int>(job.state),
                    " ", job.events.size(), " ", leased, " ", events.size(),
                    ":");
    for (const auto& [event, id] : events) {
      const Task& task = tasks_.at(id);
      absl::StrAppend(&seen, " ", id, "=",
                      task.state == State::kDone ? task.result : "given up");
    }
    absl::StrAppend(&seen, "\n");
  }
  return seen;
}

std::string QueueModel::Key(int a, int b, int64_t now_ns) const {
  std::string key = Seen();
  const auto role = [&](int lease) {
    if (lease == 0) return std::string("-");
    if (lease == a) return std::string("a");
    if (lease == b) return std::string("b");
    const auto found = leases_.find(lease);
    return found == leases_.end()
               ? std::string("x")
               : absl::StrCat("other", std::distance(leases_.begin(), found));
  };
  std::map<int, std::string> in_order;
  for (const auto& [id, task] : tasks_) {
    in_order[task.order] =
        absl::StrCat(id, " ", static_cast<int>(task.state), " ",
                     role(task.lease), " ", task.losses, ";");
  }
  for (const auto& [order, text] : in_order) absl::StrAppend(&key, text);
  for (const auto& [lease, until_ns] : leases_) {
    absl::StrAppend(&key, role(lease), " ", until_ns - now_ns, ";");
  }
  absl::StrAppend(&key, a > 0, b > 0, a > b);
  return key;
}

}  // namespace tilewright::measure
