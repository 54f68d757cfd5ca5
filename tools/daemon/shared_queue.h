// The queue of jobs as the threads of a server share it: one call at a time,
// and waiting until somebody changed something.
#ifndef TILEWRIGHT_TOOLS_DAEMON_SHARED_QUEUE_H_
#define TILEWRIGHT_TOOLS_DAEMON_SHARED_QUEUE_H_

#include <array>
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
  enum Topic : uint8_t {
    kWork,  // tasks that workers may lease
    kNews,  // results, and states of jobs
  };

  explicit SharedQueue(std::unique_ptr<measure::JobQueue> queue)
      : queue_(std::move(queue)) {}

  // What `use` returns for the queue.
  template <typename Use>
  auto Read(const Use& use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return use(*queue_);
  }
  // The same; wakes up whoever waits for news, and for work.
  template <typename Use>
  auto Change(const Use& use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto result = use(*queue_);
    Wake(kWork);
    Wake(kNews);
    return result;
  }
  // The same, where no work has come.
  template <typename Use>
  auto Tell(const Use& use) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto result = use(*queue_);
    Wake(kNews);
    return result;
  }

  // The number of changes so far.
  uint64_t changes(Topic topic) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return topics_[topic].changes;
  }
  // Until there are more than `seen`, at most so long; or Stop was called.
  void WaitForChange(Topic topic, uint64_t seen,
                     std::chrono::milliseconds most) {
    std::unique_lock<std::mutex> lock(mutex_);
    topics_[topic].changed.wait_for(
        lock, most, [&] { return topics_[topic].changes > seen || stopped_; });
  }
  void WaitForStop(std::chrono::milliseconds most) {
    std::unique_lock<std::mutex> lock(mutex_);
    stop_.wait_for(lock, most, [&] { return stopped_; });
  }

  // Nobody waits any more.
  void Stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    for (TopicState& topic : topics_) topic.changed.notify_all();
    stop_.notify_all();
  }
  bool stopped() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stopped_;
  }

 private:
  struct TopicState {
    uint64_t changes = 0;
    std::condition_variable changed;
  };
  void Wake(Topic topic) {
    ++topics_[topic].changes;
    topics_[topic].changed.notify_all();
  }

  mutable std::mutex mutex_;
  std::unique_ptr<measure::JobQueue> queue_;
  std::array<TopicState, 2> topics_;
  std::condition_variable stop_;
  bool stopped_ = false;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_SHARED_QUEUE_H_
