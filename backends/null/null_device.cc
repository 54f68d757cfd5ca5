#include "backends/null/null_device.h"

#include <string>

#include "absl/status/status.h"

namespace tilewright::null {
namespace {

using namespace backends;  // NOLINT: the interface implemented here

absl::Status Missing(const char* method) {
  return absl::UnimplementedError(
      std::string("the null backend does not implement Device::") + method);
}

class NullDevice : public Device {
 public:
  explicit NullDevice(const DeviceSpec& spec) : spec_(spec) {}

  std::string_view name() const override { return "null"; }
  const DeviceSpec& spec() const override { return spec_; }
  int num_threads() const override { return 1; }
  bool unified_memory() const override { return false; }

  absl::StatusOr<std::unique_ptr<DeviceBuffer>> Allocate(int64_t) override {
    return Missing("Allocate");
  }
  absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      std::string_view, std::string_view) override {
    return Missing("LoadModule");
  }
  absl::StatusOr<std::unique_ptr<DeviceKernel>> GetKernel(
      const DeviceModule&, std::string_view) override {
    return Missing("GetKernel");
  }
  absl::StatusOr<std::unique_ptr<Stream>> CreateStream() override {
    return Missing("CreateStream");
  }

  TimerMethod timer_method() const override { return TimerMethod::kWallClock; }
  absl::StatusOr<int64_t> TimeNs(
      Stream&, const std::function<absl::Status()>&) override {
    return Missing("TimeNs");
  }

 private:
  const DeviceSpec spec_;
};

}  // namespace

std::unique_ptr<Device> CreateNullDevice(const DeviceSpec& spec) {
  return std::make_unique<NullDevice>(spec);
}

}  // namespace tilewright::null
