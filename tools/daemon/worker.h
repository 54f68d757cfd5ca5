// A worker of the daemon: takes work by lease, measures it on its own device,
// and delivers each result as it comes.
#ifndef TILEWRIGHT_TOOLS_DAEMON_WORKER_H_
#define TILEWRIGHT_TOOLS_DAEMON_WORKER_H_

#include <grpcpp/channel.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancellation.h"
#include "base/clock.h"
#include "measure/parallel/measurer.h"
#include "measure/record/record.pb.h"

namespace tilewright::daemon {

struct WorkerOptions {
  std::string name;      // for people
  measure::Record made;  // device and versions of its records
  int most_tasks = 32;   // of a lease: what its device measures in one round
  double wait_s = 2;     // for work, before it asks again
  double patience_s = 86400;  // for a daemon that is gone
  // Returns when there was no work for so long; 0: does not wait for any.
  double most_idle_s = std::numeric_limits<double>::infinity();
};

// Measures with operands found in that way; an error: the device does not work.
using MeasurerFor =
    std::function<absl::StatusOr<measure::Measurer*>(measure::Method::Cache)>;

// Works until `stop` is cancelled: then it gives back what it has not measured.
// Results of a daemon that is gone are kept, and delivered when it is there
// again. An error: the daemon is of another version, or cannot be reached any
// more; or the device or the measurer fails, and what was leased was given
// back: a worker that starts anew may have a device that works. `measurer` is
// asked for and used on this thread; all must outlive the call.
absl::Status RunWorker(const WorkerOptions& options,
                       const std::shared_ptr<grpc::Channel>& channel,
                       const MeasurerFor& measurer, Clock& clock,
                       const Cancellation& stop);

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_WORKER_H_
