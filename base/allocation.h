// Memory whose size comes from a model or a file: what cannot be had is a
// status that says how much was asked for and for what, never the end of the
// process.
#ifndef TILEWRIGHT_BASE_ALLOCATION_H_
#define TILEWRIGHT_BASE_ALLOCATION_H_

#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tilewright {

// "12345678 bytes (11.8 MiB)"; below a KiB only the bytes.
std::string BytesText(int64_t bytes);

// ResourceExhausted: "cannot allocate 12345678 bytes (11.8 MiB) for WHAT; ...".
absl::Status CannotAllocate(int64_t bytes, std::string_view what);

// False if the machine has less memory left than that, or this process's limit
// (ulimit -v) does not allow it. The system may promise memory that it does not
// have, and end the process that writes to it: a successful allocation alone
// proves nothing. Small sizes are not looked into.
bool HasMemory(int64_t bytes);
// CannotAllocate if not HasMemory.
absl::Status CheckMemory(int64_t bytes, std::string_view what);

// The bad_alloc of constructors, which have no status to return. what() is one
// line.
class AllocationError : public std::bad_alloc {
 public:
  explicit AllocationError(const absl::Status& status)
      : message_(status.message()) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// The status that stands for the exception being handled; `doing` says what was
// going on: "importing the model". REQUIRES: within a catch block.
absl::Status StatusOfException(std::string_view doing);

// Returns the Status or StatusOr of `work`; if it runs out of memory,
// ResourceExhausted. For the borders of libraries and of programs.
template <typename F>
auto CatchExceptions(std::string_view doing, F&& work) -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    return StatusOfException(doing);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_BASE_ALLOCATION_H_
