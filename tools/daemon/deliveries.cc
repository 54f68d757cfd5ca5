#include "tools/daemon/deliveries.h"

#include <memory>
#include <utility>

#include "measure/jobs/job_queue.h"

namespace tilewright::daemon {

absl::StatusOr<measure::Completion> Deliveries::Deliver(
    measure::Delivery delivery) {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::shared_ptr<Batch> batch = next_;
  const size_t index = batch->deliveries.size();
  batch->deliveries.push_back(std::move(delivery));
  changed_.wait(lock, [&] { return batch->written || !writing_; });
  if (!batch->written) {
    writing_ = true;
    next_ = std::make_shared<Batch>();
    lock.unlock();
    auto completions = queue_.Tell([&](measure::JobQueue& queue) {
      return queue.CompleteAll(batch->deliveries, clock_.UnixNs());
    });
    lock.lock();
    batch->completions = std::move(completions);
    batch->written = true;
    writing_ = false;
    changed_.notify_all();
  }
  if (!batch->completions.ok()) return batch->completions.status();
  return (*batch->completions)[index];
}

}  // namespace tilewright::daemon
