// The threads that run a kernel's tasks.
#ifndef TILEWRIGHT_BACKENDS_CPU_DEVICE_THREAD_POOL_H_
#define TILEWRIGHT_BACKENDS_CPU_DEVICE_THREAD_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewright::cpu {

// A fixed number of threads, the caller of Run included. Between runs the
// workers spin for a bounded time, then sleep.
//
// Several threads may call Run: their runs follow each other in order of
// arrival, so that no run's threads wait for another's in the middle.
class ThreadPool {
 public:
  // Runs tasks [begin, end) as `worker`, in [0, num_threads); 0 is the caller.
  // Within one Run a worker number is used by one thread at a time.
  using Body = std::function<void(int64_t begin, int64_t end, int worker)>;

  // `num_threads` - 1 threads are started; at least the caller works.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return static_cast<int>(shares_.size()); }

  // Runs each of the tasks [0, num_tasks) exactly once and returns when all are
  // done. Each worker first takes from its own contiguous share, then from the
  // others'. `body` must not call Run of the same pool.
  void Run(int64_t num_tasks, const Body& body);

 private:
  // A contiguous share of the tasks; [next, end) is still to do.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
    int64_t grain = 1;
  };

  void WorkerMain(int worker);
  void WorkOn(int worker);
  void Open(int64_t num_tasks, const Body& body);
  void CloseAndWait();
  void EnterTurn();
  void LeaveTurn();

  // The current run. Written while the gate is closed and nobody is inside.
  std::vector<Share> shares_;
  const Body* body_ = nullptr;

  // Workers inside the current run, plus kOpen while more may enter.
  static constexpr uint32_t kOpen = 1u << 31;
  std::atomic<uint32_t> gate_{0};
  // Rises with every run: what idle workers watch.
  std::atomic<uint64_t> epoch_{0};

  std::mutex sleep_mutex_;
  std::condition_variable wake_;
  std::atomic<int> sleepers_{0};
  std::condition_variable done_;
  std::atomic<bool> caller_sleeps_{false};
  std::atomic<bool> stop_{false};

  // First come, first served.
  std::mutex turn_mutex_;
  std::condition_variable turn_changed_;
  uint64_t next_ticket_ = 0;
  uint64_t serving_ = 0;

  std::vector<std::thread> threads_;
};

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_DEVICE_THREAD_POOL_H_
