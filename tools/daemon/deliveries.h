// Results that workers bring at the same time reach the disk together: a
// transaction waits for the disk once, however many results it holds.
#ifndef TILEWRIGHT_TOOLS_DAEMON_DELIVERIES_H_
#define TILEWRIGHT_TOOLS_DAEMON_DELIVERIES_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "measure/jobs/job_types.h"
#include "tools/daemon/shared_queue.h"

namespace tilewright::daemon {

// Thread-safe. Both arguments must outlive it.
class Deliveries {
 public:
  Deliveries(SharedQueue& queue, Clock& clock) : queue_(queue), clock_(clock) {}

  // Returns when the result is on the disk. Whoever comes while others are
  // written goes with the next transaction.
  absl::StatusOr<measure::Completion> Deliver(measure::Delivery delivery);

 private:
  struct Batch {
    std::vector<measure::Delivery> deliveries;
    absl::StatusOr<std::vector<measure::Completion>> completions;
    bool written = false;
  };

  SharedQueue& queue_;
  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Batch> next_ = std::make_shared<Batch>();
  bool writing_ = false;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_DELIVERIES_H_
