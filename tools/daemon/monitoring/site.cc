#include "tools/daemon/monitoring/site.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "tools/daemon/monitoring/metrics_text.h"
#include "tools/daemon/monitoring/page_template.h"
#include "tools/page/json.h"

namespace tilewright::daemon {
namespace {

using measure::JobQueue;
using measure::JobStatus;
using measure::TaskEvent;
using tools::Json;

constexpr int kMostJobs = 40;
constexpr int kEventsAtATime = 256;
// Curves of one job that are sent: of the workloads with the most candidates.
constexpr size_t kMostCurves = 48;
constexpr int64_t kNsOfAMs = 1'000'000;

const char* StateOf(const JobStatus& job) {
  if (job.state == JobStatus::State::kCancelled) return "cancelled";
  if (job.state == JobStatus::State::kOpen) return "open";
  return job.over() ? "done" : "closed";
}

void AppendCurves(const JobHistory& history, Json& json) {
  std::vector<const std::pair<const std::string, WorkloadCurve>*> curves;
  for (const auto& curve : history.curves()) curves.push_back(&curve);
  std::stable_sort(curves.begin(), curves.end(), [](auto* a, auto* b) {
    return a->second.measured > b->second.measured;
  });
  if (curves.size() > kMostCurves) curves.resize(kMostCurves);
  json.Open('[');
  for (const auto* entry : curves) {
    const WorkloadCurve& curve = entry->second;
    json.Open('{').Key("workload").Text(entry->first);
    json.Key("title").Text(curve.title).Key("measured").Int(curve.measured);
    json.Key("failed").Int(curve.failed).Key("steps").Open('[');
    for (const WorkloadCurve::Step& step : curve.steps)
      json.Open('[').Int(step.measured).Number(step.best_ns).Close(']');
    json.Close(']').Close('}');
  }
  json.Close(']');
}

void AppendJob(const JobStatus& job, const JobHistory& history, Json& json) {
  json.Open('{').Key("id").Int(job.id).Key("owner").Text(job.spec.owner);
  json.Key("title").Text(job.spec.title).Key("state").Text(StateOf(job));
  json.Key("priority").Int(job.spec.priority).Key("tasks").Int(job.tasks);
  json.Key("leased").Int(job.leased).Key("ended").Int(job.ended);
  json.Key("failures").Open('[');
  for (const auto& [kind, failure] : history.failures()) {
    json.Open('{').Key("kind").Text(kind).Key("count").Int(failure.count);
    json.Key("message").Text(failure.first_message).Close('}');
  }
  AppendCurves(history, json.Close(']').Key("curves"));
  json.Close('}');
}

void AppendWorkers(const MonitorStats& stats, Json& json) {
  json.Open('[');
  for (const auto& [name, worker] : stats.workers) {
    json.Open('{').Key("name").Text(name).Key("device").Text(
        worker.device.empty() ? worker.device_class : worker.device);
    json.Key("leased").Int(worker.leased).Key("results").Int(worker.results);
    json.Key("failures").Int(worker.failures);
    json.Key("parallel").Int(worker.parallel);
    json.Key("here_ms").Int((stats.now_ns - worker.first_ns) / kNsOfAMs);
    json.Key("silent_ms").Int((stats.now_ns - worker.last_ns) / kNsOfAMs);
    json.Close('}');
  }
  json.Close(']');
}

void AppendActivity(const Activity& activity, Json& json) {
  json.Open('{').Key("interval_s").Number(activity.interval_s());
  json.Key("points").Open('[');
  for (const Activity::Point& point : activity.points()) {
    json.Open('[').Number(point.results_a_second);
    json.Number(point.busy_workers).Number(point.parallel).Close(']');
  }
  json.Close(']').Close('}');
}

}  // namespace

std::string Site::Page() {
  return std::string(std::begin(tools::kPage), std::end(tools::kPage) - 1);
}

absl::StatusOr<std::string> Site::Metrics() {
  Gauges gauges;
  TW_RETURN_IF_ERROR(queue_.Read([&](JobQueue& queue) -> absl::Status {
    TW_ASSIGN_OR_RETURN(gauges.waiting_tasks, queue.WaitingTasks());
    TW_ASSIGN_OR_RETURN(gauges.leases, queue.Leases());
    TW_ASSIGN_OR_RETURN(gauges.open_jobs, queue.OpenJobs());
    gauges.leases_lost = queue.leases_lost();
    return absl::OkStatus();
  }));
  gauges.resident_bytes = ResidentBytes();
  gauges.open_descriptors = OpenDescriptors();
  return MetricsText(monitor_.stats(), gauges);
}

absl::Status Site::Follow(const std::vector<JobStatus>& jobs) {
  std::set<int64_t> wanted;
  for (const JobStatus& job : jobs) {
    wanted.insert(job.id);
    JobHistory& history = histories_[job.id];
    while (true) {
      TW_ASSIGN_OR_RETURN(const std::vector<TaskEvent> events,
                          queue_.Read([&](JobQueue& queue) {
                            return queue.Events(job.spec.owner, job.id,
                                                history.last_event(),
                                                kEventsAtATime);
                          }));
      for (const TaskEvent& event : events) history.Add(event);
      if (events.size() < kEventsAtATime) break;
    }
  }
  for (auto it = histories_.begin(); it != histories_.end();)
    it = wanted.count(it->first) == 0 ? histories_.erase(it) : std::next(it);
  return absl::OkStatus();
}

absl::StatusOr<std::string> Site::State() {
  const std::lock_guard<std::mutex> lock(mutex_);
  TW_ASSIGN_OR_RETURN(
      const std::vector<JobStatus> jobs,
      queue_.Read([](JobQueue& queue) { return queue.NewestJobs(kMostJobs); }));
  TW_ASSIGN_OR_RETURN(const int64_t waiting, queue_.Read([](JobQueue& queue) {
    return queue.WaitingTasks();
  }));
  TW_RETURN_IF_ERROR(Follow(jobs));
  const MonitorStats stats = monitor_.stats();
  Json json;
  json.Open('{').Key("now_ms").Int(stats.now_ns / kNsOfAMs);
  json.Key("started_ms").Int(stats.started_ns / kNsOfAMs);
  json.Key("waiting").Int(waiting);
  json.Key("results_a_second").Number(stats.results_a_second);
  json.Key("outcomes").Open('{');
  for (const auto& [outcome, count] : stats.outcomes)
    json.Key(outcome).Int(count);
  AppendWorkers(stats, json.Close('}').Key("workers"));
  AppendActivity(stats.activity, json.Key("activity"));
  json.Key("jobs").Open('[');
  for (const JobStatus& job : jobs) AppendJob(job, histories_[job.id], json);
  // Its lines are JSON already.
  json.Close(']').Key("events").Open('[');
  for (const std::string& line : log_.Recent()) json.Raw(line);
  json.Close(']').Close('}');
  return json.text();
}

}  // namespace tilewright::daemon
