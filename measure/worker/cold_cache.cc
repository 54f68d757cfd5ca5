#include "measure/worker/cold_cache.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tilewright::measure {

absl::StatusOr<CacheFlusher> CacheFlusher::Create(backends::Device& device) {
  constexpr int64_t kSmallest = int64_t{1} << 20;  // where no cache is known
  int64_t largest_bytes = kSmallest;
  for (const MemoryLevel& level : device.spec().levels()) {
    if (level.kind() == MemoryLevel::CACHE) {
      largest_bytes = std::max(largest_bytes, level.capacity_bytes());
    }
  }
  TW_ASSIGN_OR_RETURN(auto buffer, device.Allocate(2 * largest_bytes));
  return CacheFlusher(std::move(buffer));
}

absl::Status CacheFlusher::Flush(backends::Stream& stream) {
  byte_ = (byte_ + 1) % 256;
  return stream.Fill(buffer_->address(), byte_, buffer_->size_bytes());
}

}  // namespace tilewright::measure
