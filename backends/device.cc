#include "backends/device.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

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

absl::Status Stream::CopyRows(void* to, int64_t to_stride_bytes,
                              const void* from, int64_t from_stride_bytes,
                              int64_t size_bytes, int64_t rows) {
  auto* const target = static_cast<char*>(to);
  const auto* const source = static_cast<const char*>(from);
  for (int64_t row = 0; row < rows; ++row) {
    TW_RETURN_IF_ERROR(Copy(target + row * to_stride_bytes,
                            source + row * from_stride_bytes, size_bytes));
  }
  return absl::OkStatus();
}

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
