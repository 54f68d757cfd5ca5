// What a daemon has done since it began: counts, its workers, how busy it was;
// and its log.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MONITORING_MONITOR_H_
#define TILEWRIGHT_TOOLS_DAEMON_MONITORING_MONITOR_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "tools/daemon/monitoring/activity.h"
#include "tools/daemon/monitoring/event_log.h"
#include "tools/daemon/observer.h"

namespace tilewright::daemon {

struct WorkerActivity {
  std::string device_class;
  std::string device;  // the name of its spec; empty before its first result
  int64_t first_ns = 0, last_ns = 0;  // unix time of its calls
  std::string lease;                  // empty: it has none
  int64_t leased = 0;                 // tasks that are left of it
  int64_t results = 0, failures = 0;
  int parallel = 0;  // candidates at the same time, as of its last result
};

// Calls by method ("Jobs/Watch") and the name of their status ("OK").
using CallCounts = std::map<std::pair<std::string, std::string>, int64_t>;

struct MonitorStats {
  int64_t started_ns = 0, now_ns = 0;  // unix time
  CallCounts calls;
  std::map<std::string, int64_t> outcomes;     // of results that counted
  std::map<std::string, int64_t> completions;  // "accepted" ...
  int64_t leases = 0, given_back = 0;
  std::map<std::string, WorkerActivity> workers;  // by name
  double results_a_second = 0;                    // of the last second
  Activity activity{1};
};

// Thread-safe; both must outlive it, and the clock be thread-safe.
class Monitor : public Observer {
 public:
  Monitor(EventLog& log, Clock& clock);

  void OnCall(absl::string_view method, const grpc::Status& status) override;
  void OnJob(const measure::JobStatus& job) override;
  void OnLease(const std::string& worker, const std::string& device_class,
               const measure::LeaseOffer& offer) override;
  void OnHeartbeat(const std::string& lease) override;
  void OnResult(const measure::Record& record,
                measure::Completion completion) override;
  void OnGiveBack(const std::string& lease, bool lost) override;

  // Called once a second. Workers that were silent for half a minute are gone.
  void Sample();

  MonitorStats stats() const;

 private:
  // With the lock held. Null: it is of no worker that was stats.
  WorkerActivity* HolderOf(const std::string& lease);
  void EndLease(const std::string& lease);

  EventLog& log_;
  Clock& clock_;
  mutable std::mutex mutex_;
  MonitorStats stats_;
  std::map<std::string, std::string> worker_of_lease_;
  int64_t results_ = 0, results_sampled_ = 0;
  std::map<std::string, int64_t> refusal_told_ns_;  // by method and code
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MONITORING_MONITOR_H_
