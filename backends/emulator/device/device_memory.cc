#include "backends/emulator/device/device_memory.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/guarded_buffer.h"
#include "base/allocation.h"
#include "base/status_macros.h"

namespace tilewright::emulator {
namespace {

using backends::GuardedBuffer;

constexpr int64_t kPadBytes = 64;
// Added to addresses: what results is no address that a CPU takes.
constexpr uintptr_t kAway = uintptr_t{1} << 62;

}  // namespace

class DeviceMemory::Buffer : public backends::DeviceBuffer {
 public:
  Buffer(std::shared_ptr<DeviceMemory> memory, GuardedBuffer bytes,
         int64_t size_bytes)
      : memory_(std::move(memory)),
        bytes_(std::move(bytes)),
        size_bytes_(size_bytes) {
    const std::lock_guard<std::mutex> lock(memory_->mutex_);
    memory_->sizes_bytes_[bytes_.data()] = bytes_.size_bytes();
  }
  ~Buffer() override {
    const std::lock_guard<std::mutex> lock(memory_->mutex_);
    memory_->sizes_bytes_.erase(bytes_.data());
  }
  int64_t size_bytes() const override { return size_bytes_; }
  void* address() const override {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(bytes_.data()) |
                                   kAway);
  }

 private:
  const std::shared_ptr<DeviceMemory> memory_;
  const GuardedBuffer bytes_;
  const int64_t size_bytes_;
};

absl::StatusOr<std::unique_ptr<backends::DeviceBuffer>> DeviceMemory::Allocate(
    int64_t size_bytes) {
  if (size_bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a buffer of ", size_bytes, " bytes"));
  }
  TW_RETURN_IF_ERROR(CheckMemory(size_bytes, "a buffer of the emulator"));
  const int64_t padded = size_bytes < kPadBytes ? kPadBytes
                                                : (size_bytes + kPadBytes - 1) /
                                                      kPadBytes * kPadBytes;
  TW_ASSIGN_OR_RETURN(GuardedBuffer bytes,
                      GuardedBuffer::Create(padded, GuardedBuffer::Side::kEnd));
  std::memset(bytes.data(), 0xff, static_cast<size_t>(padded));
  return std::make_unique<Buffer>(shared_from_this(), std::move(bytes),
                                  size_bytes);
}

bool DeviceMemory::IsDevice(const void* address) {
  return (reinterpret_cast<uintptr_t>(address) & kAway) != 0;
}

absl::StatusOr<char*> DeviceMemory::Resolve(const void* address,
                                            int64_t size_bytes) const {
  auto* const host =
      reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(address) & ~kAway);
  const std::lock_guard<std::mutex> lock(mutex_);
  auto after = sizes_bytes_.upper_bound(host);
  if (IsDevice(address) && after != sizes_bytes_.begin()) {
    const auto& [begin, size] = *--after;
    if (host - begin <= size - size_bytes) return host;
  }
  return absl::OutOfRangeError(
      absl::StrCat(size_bytes, " bytes at 0x",
                   absl::Hex(reinterpret_cast<uintptr_t>(address)),
                   " are in no buffer of the device"));
}

}  // namespace tilewright::emulator
