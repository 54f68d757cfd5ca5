// The queue of jobs as the threads of a server share it: one call at a time,
// and waiting until somebody changed something.
#ifndef TILEWRIGHT_TOOLS_DAEMON_SHARED_QUEUE_H_
#define TILEWRIGHT_TOOLS_DAEMON_SHARED_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "measure/jobs/job_queue.h"

namespace tilewright::daemon {

// Thread-safe.
class SharedQueue {
 public:
  explicit SharedQueue(std::unique_ptr<measure::JobQueue> queue)
      : queue_(std::move(queue)) {}

  // What `use` returns for the queue.
  template <typename Use>
  auto Read(const Use& use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return use(*queue_);
  }
  // The same; wakes up whoever waits for a change.
  template <typename Use>
  auto Change(const Use& use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto result = use(*queue_);
    ++changes_;
    changed_.notify_all();
    return result;
  }

  // The number of changes so far.
  uint64_t changes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return changes_;
  }
  // Until there are more than `seen`, at most so long; or Stop was called.
  void WaitForChange(uint64_t seen, std::chrono::milliseconds most) const {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, most, [&] { return changes_ > seen || stopped_; });
  }

  // Nobody waits any more.
  void Stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  bool stopped() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stopped_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::unique_ptr<measure::JobQueue> queue_;
  uint64_t changes_ = 0;
  bool stopped_ = false;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_SHARED_QUEUE_H_
