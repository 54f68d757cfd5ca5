#include "measure/worker/cold_cache.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tilewright::measure {

int64_t ColdBytes(const DeviceSpec& spec) {
  constexpr int64_t kSmallest = int64_t{1} << 20;  // where no cache is known
  int64_t largest_bytes = kSmallest;
  for (const MemoryLevel& level : spec.levels()) {
    if (level.kind() == MemoryLevel::CACHE) {
      largest_bytes = std::max(largest_bytes, level.capacity_bytes());
    }
  }
  return 2 * largest_bytes;
}

absl::StatusOr<CacheFlusher> CacheFlusher::Create(backends::Device& device) {
  TW_ASSIGN_OR_RETURN(auto buffer, device.Allocate(ColdBytes(device.spec())));
  return CacheFlusher(std::move(buffer));
}

absl::Status CacheFlusher::Flush(backends::Stream& stream) {
  byte_ = (byte_ + 1) % 256;
  return stream.Fill(buffer_->address(), byte_, buffer_->size_bytes());
}

}  // namespace tilewright::measure
