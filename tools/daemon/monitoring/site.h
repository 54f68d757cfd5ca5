// What the daemon's web server answers with, made anew each time it is asked.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MONITORING_SITE_H_
#define TILEWRIGHT_TOOLS_DAEMON_MONITORING_SITE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "measure/jobs/job_types.h"
#include "tools/daemon/monitoring/event_log.h"
#include "tools/daemon/monitoring/job_history.h"
#include "tools/daemon/monitoring/monitor.h"
#include "tools/daemon/shared_queue.h"

namespace tilewright::daemon {

// Thread-safe; all must outlive it.
class Site {
 public:
  Site(SharedQueue& queue, const Monitor& monitor, const EventLog& log)
      : queue_(queue), monitor_(monitor), log_(log) {}

  // A page that needs nothing else, and asks for the state every other second.
  static std::string Page();
  // metrics_text.h. Errors of the queue.
  absl::StatusOr<std::string> Metrics();
  // The newest jobs with their curves and failures, workers, activity and
  // events, as one JSON object.
  absl::StatusOr<std::string> State();

 private:
  // Reads the events that are new. With the lock held.
  absl::Status Follow(const std::vector<measure::JobStatus>& jobs);

  SharedQueue& queue_;
  const Monitor& monitor_;
  const EventLog& log_;
  std::mutex mutex_;
  std::map<int64_t, JobHistory> histories_;  // by job
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MONITORING_SITE_H_
