#include "backends/device.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace tilewright::backends {
namespace {

constexpr int64_t kAlignment = 64;

class PlainHostBuffer : public HostBuffer {
 public:
  PlainHostBuffer(void* address, int64_t size_bytes)
      : address_(address), size_bytes_(size_bytes) {}
  ~PlainHostBuffer() override { std::free(address_); }
  int64_t size_bytes() const override { return size_bytes_; }
  void* address() const override { return address_; }

 private:
  void* const address_;
  const int64_t size_bytes_;
};

}  // namespace

absl::Status Stream::Replay(const CapturedWork&) {
  return absl::UnimplementedError("this stream captures nothing");
}

absl::StatusOr<std::unique_ptr<HostBuffer>> Device::AllocateHost(
    int64_t size_bytes) {
  const int64_t padded = std::max(
      kAlignment, (size_bytes + kAlignment - 1) / kAlignment * kAlignment);
  void* const address = std::aligned_alloc(static_cast<size_t>(kAlignment),
                                           static_cast<size_t>(padded));
  if (address == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat(size_bytes, " bytes of the host's memory"));
  }
  return std::make_unique<PlainHostBuffer>(address, size_bytes);
}

}  // namespace tilewright::backends
