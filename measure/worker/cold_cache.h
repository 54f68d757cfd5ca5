// Drives operands out of a device's caches, so that an execution finds them in
// memory.
#ifndef TILEWRIGHT_MEASURE_WORKER_COLD_CACHE_H_
#define TILEWRIGHT_MEASURE_WORKER_COLD_CACHE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/device.h"

namespace tilewright::measure {

// Twice the largest cache of the device's spec: what has passed through the
// caches since so many bytes were touched is not in them any more.
int64_t ColdBytes(const DeviceSpec& spec);

// Writes a buffer of so many bytes.
class CacheFlusher {
 public:
  static absl::StatusOr<CacheFlusher> Create(backends::Device& device);
  // Enqueues it.
  absl::Status Flush(backends::Stream& stream);
  int64_t size_bytes() const { return buffer_->size_bytes(); }

 private:
  explicit CacheFlusher(std::unique_ptr<backends::DeviceBuffer> buffer)
      : buffer_(std::move(buffer)) {}
  std::unique_ptr<backends::DeviceBuffer> buffer_;
  int byte_ = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_COLD_CACHE_H_
