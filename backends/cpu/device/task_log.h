// Which thread ran which tasks, and when: for profiles. Costs two looks at two
// clocks for each piece of a launch while it is switched on, nothing else.
#ifndef TILEWRIGHT_BACKENDS_CPU_DEVICE_TASK_LOG_H_
#define TILEWRIGHT_BACKENDS_CPU_DEVICE_TASK_LOG_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tilewright::cpu {

// Tasks [task_begin, task_end) of one launch, run by one thread in one piece.
struct TaskRecord {
  int worker = 0;  // 0 is the launching thread
  int64_t task_begin = 0;
  int64_t task_end = 0;
  int64_t start_ns = 0;  // of CLOCK_MONOTONIC, as Clock::WallNs
  int64_t end_ns = 0;
  int64_t cpu_ns = 0;  // of the thread, in between
};

// Thread-safe.
class TaskLog {
 public:
  bool enabled() const { return enabled_.load(std::memory_order_relaxed); }
  void set_enabled(bool enabled) { enabled_ = enabled; }

  void Add(const TaskRecord& record) {
    std::lock_guard<std::mutex> lock(mutex_);
    records_.push_back(record);
  }
  // Returns the records added since the last call, in no order.
  std::vector<TaskRecord> Take() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<TaskRecord> taken(records_);
    records_.clear();  // keeps its memory: adding must stay cheap
    return taken;
  }

 private:
  std::atomic<bool> enabled_{false};
  std::mutex mutex_;
  std::vector<TaskRecord> records_;
};

// Logs the tasks that run in one piece while it lives, if `log` is enabled; it
// may be null.
class LoggedPiece {
 public:
  LoggedPiece(TaskLog* log, int worker, int64_t task_begin, int64_t task_end);
  ~LoggedPiece();
  LoggedPiece(const LoggedPiece&) = delete;
  LoggedPiece& operator=(const LoggedPiece&) = delete;

 private:
  TaskLog* const log_;  // null: it logs nothing
  TaskRecord record_;
};

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_DEVICE_TASK_LOG_H_
