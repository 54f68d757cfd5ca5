#include "measure/worker/cold_cache.h"

#include "backends/spec/caches.h"
#include "base/status_macros.h"

namespace tilewright::measure {

int64_t ColdBytes(const DeviceSpec& spec) {
  return 2 * LargestCacheBytes(spec, /*otherwise=*/int64_t{1} << 20);
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
