// What a daemon shows at /metrics: Prometheus' text format, version 0.0.4.
#ifndef TILEWRIGHT_TOOLS_DAEMON_MONITORING_METRICS_TEXT_H_
#define TILEWRIGHT_TOOLS_DAEMON_MONITORING_METRICS_TEXT_H_

#include <cstdint>
#include <string>

#include "tools/daemon/monitoring/monitor.h"

namespace tilewright::daemon {

// What the queue and the system say at the moment.
struct Gauges {
  int64_t waiting_tasks = 0;
  int64_t leases = 0;
  int64_t leases_lost = 0;  // since the daemon began
  int64_t open_jobs = 0;
  int64_t resident_bytes = 0;
  int64_t open_descriptors = 0;
};

std::string MetricsText(const MonitorStats& stats, const Gauges& gauges);

// Of this process; 0 where the system does not tell.
int64_t ResidentBytes();
int64_t OpenDescriptors();

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_MONITORING_METRICS_TEXT_H_
