// Guarded buffers that are used again: mapping one, and touching its pages for
// the first time, takes longer than filling it.
#ifndef TILEWRIGHT_MEASURE_VERIFY_SPARE_BUFFERS_H_
#define TILEWRIGHT_MEASURE_VERIFY_SPARE_BUFFERS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/guarded_buffer.h"

namespace tilewright::measure {

// Not thread-safe.
class SpareBuffers {
 public:
  using Side = backends::GuardedBuffer::Side;

  // Keeps at most so many bytes.
  explicit SpareBuffers(int64_t most_bytes) : most_bytes_(most_bytes) {}

  // One that holds anything. Errors as of GuardedBuffer::Create.
  absl::StatusOr<backends::GuardedBuffer> Take(int64_t size_bytes, Side side);
  // Returns a buffer that Take gave for that side. One that something wrote
  // beside is not kept.
  void Give(backends::GuardedBuffer buffer, Side side);

  int64_t size_bytes() const { return size_bytes_; }

 private:
  const int64_t most_bytes_;
  int64_t size_bytes_ = 0;
  std::map<std::pair<int64_t, Side>, std::vector<backends::GuardedBuffer>>
      spare_;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_VERIFY_SPARE_BUFFERS_H_
