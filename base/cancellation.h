#ifndef TILEWRIGHT_BASE_CANCELLATION_H_
#define TILEWRIGHT_BASE_CANCELLATION_H_

#include <atomic>

namespace tilewright {

// Tells work that takes long to end soon. Thread-safe, and Cancel may be called
// by a signal handler. Once cancelled, for ever.
class Cancellation {
 public:
  void Cancel() { cancelled_.store(true, std::memory_order_release); }
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> cancelled_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_CANCELLATION_H_
