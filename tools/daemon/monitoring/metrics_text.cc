#include "tools/daemon/monitoring/metrics_text.h"

#include <dirent.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace tilewright::daemon {
namespace {

constexpr double kSecondsOfANs = 1e-9;
constexpr int64_t kNsOfASecond = 1'000'000'000;

// One metric after the other, each with what it is.
class Metrics {
 public:
  Metrics& Begin(absl::string_view name, absl::string_view type,
                 absl::string_view help) {
    name_ = absl::StrCat("tilewrightd_", name);
    absl::StrAppend(&text_, "# HELP ", name_, " ", help, "\n# TYPE ", name_,
                    " ", type, "\n");
    return *this;
  }
  template <typename T>
  Metrics& Value(const T& value, const std::string& labels = "") {
    absl::StrAppend(&text_, name_, labels.empty() ? "" : "{", labels,
                    labels.empty() ? "" : "}", " ", value, "\n");
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string name_, text_;
};

std::string Label(absl::string_view name, const std::string& value) {
  return absl::StrCat(
      name, "=\"",
      absl::StrReplaceAll(value,
                          {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}),
      "\"");
}

}  // namespace

std::string MetricsText(const MonitorStats& stats, const Gauges& gauges) {
  Metrics metrics;
  metrics.Begin("start_time_seconds", "gauge", "When the daemon began.")
      .Value(stats.started_ns / kNsOfASecond);
  metrics.Begin("open_jobs", "gauge", "Jobs that may get more tasks.")
      .Value(gauges.open_jobs);
  metrics.Begin("waiting_tasks", "gauge", "Tasks that no worker has yet.")
      .Value(gauges.waiting_tasks);
  metrics.Begin("leases", "gauge", "Leases that are current.")
      .Value(gauges.leases);
  metrics.Begin("leases_total", "counter", "Leases that were given.")
      .Value(stats.leases);
  metrics.Begin("leases_lost_total", "counter", "Leases that ran out.")
      .Value(gauges.leases_lost);
  metrics
      .Begin("leases_given_back_total", "counter",
             "Leases that workers gave back.")
      .Value(stats.given_back);
  metrics.Begin("results_total", "counter",
                "Results that counted, by outcome.");
  for (const auto& [outcome, count] : stats.outcomes)
    metrics.Value(count, Label("outcome", absl::AsciiStrToLower(outcome)));
  metrics.Begin("deliveries_total", "counter",
                "Results that workers brought: accepted, repeated or stale.");
  for (const auto& [completion, count] : stats.completions)
    metrics.Value(count, Label("completion", completion));
  metrics.Begin("calls_total", "counter", "Calls that ended, by status.");
  for (const auto& [call, count] : stats.calls) {
    metrics.Value(count, absl::StrCat(Label("method", call.first), ",",
                                      Label("code", call.second)));
  }
  metrics.Begin("workers", "gauge", "Workers that were heard of lately.")
      .Value(stats.workers.size());
  metrics.Begin("worker_results_total", "counter", "Results of each worker.");
  for (const auto& [name, worker] : stats.workers)
    metrics.Value(worker.results, Label("worker", name));
  metrics.Begin("worker_parallel", "gauge",
                "Candidates that a worker measures at the same time.");
  for (const auto& [name, worker] : stats.workers)
    metrics.Value(worker.parallel, Label("worker", name));
  metrics.Begin("worker_silent_seconds", "gauge",
                "Since a worker was heard of last.");
  for (const auto& [name, worker] : stats.workers) {
    metrics.Value(
        static_cast<double>(stats.now_ns - worker.last_ns) * kSecondsOfANs,
        Label("worker", name));
  }
  metrics.Begin("resident_memory_bytes", "gauge", "Memory of the process.")
      .Value(gauges.resident_bytes);
  metrics.Begin("open_fds", "gauge", "Descriptors of the process.")
      .Value(gauges.open_descriptors);
  return metrics.text();
}

int64_t ResidentBytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

int64_t OpenDescriptors() {
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  int64_t count = 0;
  while (const dirent* entry = readdir(folder))
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count - 1;  // the folder's own
}

}  // namespace tilewright::daemon
