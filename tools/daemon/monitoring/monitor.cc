#include "tools/daemon/monitoring/monitor.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tilewright::daemon {
namespace {

using measure::Completion;
using measure::Measurement;
using Level = EventLog::Level;

constexpr int64_t kNsOfASecond = 1'000'000'000;
constexpr int64_t kGoneAfterNs = 30 * kNsOfASecond;
// Refusals of one kind are told so often at most: a stranger who knocks for
// hours fills no disk.
constexpr int64_t kRefusalEveryNs = 10 * kNsOfASecond;

std::string NameOf(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return "OK";
    case grpc::StatusCode::CANCELLED:
      return "CANCELLED";
    case grpc::StatusCode::INVALID_ARGUMENT:
      return "INVALID_ARGUMENT";
    case grpc::StatusCode::NOT_FOUND:
      return "NOT_FOUND";
    case grpc::StatusCode::PERMISSION_DENIED:
      return "PERMISSION_DENIED";
    case grpc::StatusCode::UNAUTHENTICATED:
      return "UNAUTHENTICATED";
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return "RESOURCE_EXHAUSTED";
    case grpc::StatusCode::FAILED_PRECONDITION:
      return "FAILED_PRECONDITION";
    case grpc::StatusCode::UNAVAILABLE:
      return "UNAVAILABLE";
    default:
      return absl::StrCat("CODE_", static_cast<int>(code));
  }
}

// A peer may call whatever it likes; names that are kept are few.
constexpr size_t kMostKindsOfCalls = 200;

// Whether somebody asked for what they may not have, or in a wrong way.
bool IsRefusal(grpc::StatusCode code) {
  return code != grpc::StatusCode::OK && code != grpc::StatusCode::CANCELLED &&
         code != grpc::StatusCode::UNAVAILABLE &&
         code != grpc::StatusCode::NOT_FOUND;
}

const char* NameOf(Completion completion) {
  switch (completion) {
    case Completion::kAccepted:
      return "accepted";
    case Completion::kRepeated:
      return "repeated";
    case Completion::kStale:
      return "stale";
  }
  return "";
}

const char* NameOf(const measure::JobStatus& job) {
  if (job.state == measure::JobStatus::State::kCancelled) return "cancelled";
  return job.state == measure::JobStatus::State::kOpen ? "open" : "closed";
}

}  // namespace

Monitor::Monitor(EventLog& log, Clock& clock) : log_(log), clock_(clock) {
  stats_.started_ns = clock.UnixNs();
}

void Monitor::OnCall(absl::string_view method, const grpc::Status& status) {
  if (!absl::ConsumePrefix(&method, "/tilewright.daemon.")) method = "other";
  const std::string code = NameOf(status.error_code());
  const int64_t now_ns = clock_.UnixNs();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::pair<std::string, std::string> kind{method, code};
    if (stats_.calls.size() >= kMostKindsOfCalls &&
        stats_.calls.count(kind) == 0)
      kind.first = "other";
    ++stats_.calls[kind];
    if (!IsRefusal(status.error_code())) return;
    const auto [told, is_new] =
        refusal_told_ns_.emplace(absl::StrCat(kind.first, " ", code), now_ns);
    if (!is_new && now_ns < told->second + kRefusalEveryNs) return;
    told->second = now_ns;
  }
  log_.Write(
      Level::kWarning, "refused",
      {{"call", method}, {"code", code}, {"message", status.error_message()}});
}

void Monitor::OnJob(const measure::JobStatus& job) {
  log_.Write(Level::kInfo, "job",
             {{"job", job.id},
              {"state", NameOf(job)},
              {"owner", job.spec.owner},
              {"title", job.spec.title},
              {"tasks", job.tasks}});
}

void Monitor::OnLease(const std::string& worker,
                      const std::string& device_class,
                      const measure::LeaseOffer& offer) {
  const int64_t now_ns = clock_.UnixNs();
  bool is_new = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    WorkerActivity& of_worker = stats_.workers[worker];
    is_new = of_worker.first_ns == 0;
    if (is_new) of_worker.first_ns = now_ns;
    of_worker.last_ns = now_ns;
    of_worker.device_class = device_class;
    if (!offer.tasks.empty()) {
      ++stats_.leases;
      if (!of_worker.lease.empty()) worker_of_lease_.erase(of_worker.lease);
      of_worker.lease = offer.name;
      of_worker.leased = static_cast<int64_t>(offer.tasks.size());
      worker_of_lease_[offer.name] = worker;
    }
  }
  if (is_new) {
    log_.Write(Level::kInfo, "worker_came",
               {{"worker", worker}, {"device_class", device_class}});
  }
}

WorkerActivity* Monitor::HolderOf(const std::string& lease) {
  const auto holder = worker_of_lease_.find(lease);
  if (holder == worker_of_lease_.end()) return nullptr;
  const auto worker = stats_.workers.find(holder->second);
  return worker == stats_.workers.end() ? nullptr : &worker->second;
}

void Monitor::EndLease(const std::string& lease) {
  if (WorkerActivity* worker = HolderOf(lease); worker != nullptr) {
    worker->lease.clear();
    worker->leased = 0;
  }
  worker_of_lease_.erase(lease);
}

void Monitor::OnHeartbeat(const std::string& lease) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (WorkerActivity* worker = HolderOf(lease); worker != nullptr)
    worker->last_ns = clock_.UnixNs();
}

void Monitor::OnResult(const measure::Record& record, Completion completion) {
  const Measurement& measurement = record.measurement();
  const bool ok = measurement.outcome() == Measurement::OK;
  std::string name;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++stats_.completions[NameOf(completion)];
    if (completion != Completion::kAccepted) return;
    ++results_;
    ++stats_.outcomes[Measurement::Outcome_Name(measurement.outcome())];
    WorkerActivity* worker = HolderOf(record.lease());
    if (worker != nullptr) {
      name = worker_of_lease_[record.lease()];
      worker->last_ns = clock_.UnixNs();
      worker->device = record.device().spec();
      worker->parallel =
          std::max(1, measurement.method().degree_of_parallelism());
      ++worker->results;
      if (!ok) ++worker->failures;
      if (--worker->leased <= 0) EndLease(record.lease());
    }
  }
  // A candidate that fails is nothing special; a device that does is.
  if (ok || measurement.fault() != Measurement::DEVICE) return;
  log_.Write(Level::kError, "device_failed",
             {{"worker", name}, {"message", measurement.message()}});
}

void Monitor::OnGiveBack(const std::string& lease, bool lost) {
  std::string name;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++stats_.given_back;
    const auto holder = worker_of_lease_.find(lease);
    if (holder != worker_of_lease_.end()) name = holder->second;
    EndLease(lease);
  }
  if (lost) {
    log_.Write(Level::kWarning, "worker_failed",
               {{"worker", name}, {"lease", lease}});
  }
}

void Monitor::Sample() {
  const int64_t now_ns = clock_.UnixNs();
  std::vector<std::string> gone;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Activity::Point point;
    point.results_a_second = static_cast<double>(results_ - results_sampled_);
    results_sampled_ = results_;
    for (auto& [name, worker] : stats_.workers) {
      if (now_ns - worker.last_ns > kGoneAfterNs) gone.push_back(name);
      if (worker.lease.empty()) continue;
      point.busy_workers += 1;
      point.parallel += std::max(1, worker.parallel);
    }
    for (const std::string& name : gone) {
      worker_of_lease_.erase(stats_.workers[name].lease);
      stats_.workers.erase(name);
    }
    stats_.results_a_second = point.results_a_second;
    stats_.activity.Add(point);
  }
  for (const std::string& name : gone)
    log_.Write(Level::kInfo, "worker_gone", {{"worker", name}});
}

MonitorStats Monitor::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  MonitorStats stats = stats_;
  stats.now_ns = clock_.UnixNs();
  return stats;
}

}  // namespace tilewright::daemon
