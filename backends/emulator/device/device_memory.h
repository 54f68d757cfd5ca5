#ifndef TILEWRIGHT_BACKENDS_EMULATOR_DEVICE_DEVICE_MEMORY_H_
#define TILEWRIGHT_BACKENDS_EMULATOR_DEVICE_DEVICE_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "backends/device.h"

namespace tilewright::emulator {

// Which addresses are the device's. Thread-safe; outlives its buffers.
class DeviceMemory : public std::enable_shared_from_this<DeviceMemory> {
 public:
  // ResourceExhausted if there is not that much memory.
  absl::StatusOr<std::unique_ptr<backends::DeviceBuffer>> Allocate(
      int64_t size_bytes);

  // Whether an address is meant for the device.
  static bool IsDevice(const void* address);
  // Where in the host's memory [address, address + size_bytes) lies. OutOfRange
  // unless it is within one buffer.
  absl::StatusOr<char*> Resolve(const void* address, int64_t size_bytes) const;

 private:
  class Buffer;
  mutable std::mutex mutex_;
  std::map<const char*, int64_t> sizes_bytes_;  // by the host's address
};

}  // namespace tilewright::emulator

#endif  // TILEWRIGHT_BACKENDS_EMULATOR_DEVICE_DEVICE_MEMORY_H_
