#include "backends/cpu/device/thread_pool.h"

#include <immintrin.h>

#include <algorithm>
#include <chrono>

namespace tilewright::cpu {
namespace {

// Longer than most gaps between two launches of a model, in which only the
// launching thread works, and than waking a thread takes; much shorter than a
// time slice. In time, not in iterations: a pause takes 40 cycles on one CPU
// and 140 on another.
constexpr std::chrono::microseconds kSpin(300);
// Pauses between two looks at the clock: a few microseconds. Whoever still
// waits then offers its core, in case the one it waits for needs it: with a
// core taken by others, both may stand on the same one.
constexpr int kPauses = 64;

// A worker takes its share in this many bites, so that there is something left
// to steal.
constexpr int64_t kBitesPerShare = 8;

template <typename Condition>
bool SpinUntil(const Condition& condition) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point end = Clock::time_point::max();
  while (true) {
    for (int i = 0; i < kPauses; ++i) {
      if (condition()) return true;
      _mm_pause();
    }
    const Clock::time_point now = Clock::now();
    if (end == Clock::time_point::max()) end = now + kSpin;
    if (now >= end) return condition();
    std::this_thread::yield();
  }
}

}  // namespace

ThreadPool::ThreadPool(int num_threads) : shares_(std::max(1, num_threads)) {
  for (int worker = 1; worker < this->num_threads(); ++worker) {
    threads_.emplace_back([this, worker] { WorkerMain(worker); });
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(sleep_mutex_);
    stop_ = true;
    ++epoch_;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Run(int64_t num_tasks, const Body& body) {
  if (num_tasks <= 0) return;
  if (num_threads() == 1 || num_tasks == 1) {
    // Nothing shared is touched: no turn needed.
    body(0, num_tasks, 0);
    return;
  }
  EnterTurn();
  Open(num_tasks, body);
  WorkOn(0);
  CloseAndWait();
  LeaveTurn();
}

void ThreadPool::Open(int64_t num_tasks, const Body& body) {
  const int64_t threads = num_threads();
  for (int64_t i = 0; i < threads; ++i) {
    // Without a product that could overflow.
    const int64_t base = num_tasks / threads;
    const int64_t extra = num_tasks % threads;
    const int64_t begin = i * base + std::min(i, extra);
    Share& share = shares_[i];
    share.end = begin + base + (i < extra ? 1 : 0);
    share.grain = std::max<int64_t>(1, (share.end - begin) / kBitesPerShare);
    share.next.store(begin, std::memory_order_relaxed);
  }
  body_ = &body;
  gate_.store(kOpen);  // publishes the above to whoever enters
  ++epoch_;
  if (sleepers_.load() > 0) {
    { std::lock_guard<std::mutex> lock(sleep_mutex_); }
    wake_.notify_all();
  }
}

void ThreadPool::WorkOn(int worker) {
  const int threads = num_threads();
  for (int i = 0; i < threads; ++i) {
    Share& share = shares_[(worker + i) % threads];
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      const int64_t begin =
          share.next.fetch_add(share.grain, std::memory_order_relaxed);
      if (begin >= share.end) break;
      (*body_)(begin, std::min(begin + share.grain, share.end), worker);
    }
  }
}

void ThreadPool::CloseAndWait() {
  gate_.fetch_and(~kOpen);
  const auto empty = [this] { return gate_.load() == 0; };
  if (SpinUntil(empty)) return;
  std::unique_lock<std::mutex> lock(sleep_mutex_);
  caller_sleeps_ = true;
  done_.wait(lock, empty);
  caller_sleeps_ = false;
}

void ThreadPool::WorkerMain(int worker) {
  uint64_t seen = 0;
  while (true) {
    const auto called = [&] { return epoch_.load() != seen; };
    if (!SpinUntil(called)) {
      std::unique_lock<std::mutex> lock(sleep_mutex_);
      ++sleepers_;
      wake_.wait(lock, called);
      --sleepers_;
    }
    if (stop_) return;
    seen = epoch_.load();
    uint32_t gate = gate_.load();
    bool inside = false;
    while ((gate & kOpen) != 0 && !inside) {
      inside = gate_.compare_exchange_weak(gate, gate + 1);
    }
    if (!inside) continue;  // too late: the run is already closed
    WorkOn(worker);
    if (gate_.fetch_sub(1) == 1 && caller_sleeps_) {
      { std::lock_guard<std::mutex> lock(sleep_mutex_); }
      done_.notify_one();
    }
  }
}

void ThreadPool::EnterTurn() {
  std::unique_lock<std::mutex> lock(turn_mutex_);
  const uint64_t ticket = next_ticket_++;
  turn_changed_.wait(lock, [&] { return serving_ == ticket; });
}

void ThreadPool::LeaveTurn() {
  bool others;
  {
    std::lock_guard<std::mutex> lock(turn_mutex_);
    ++serving_;
    others = serving_ != next_ticket_;
  }
  if (others) turn_changed_.notify_all();
}

}  // namespace tilewright::cpu
