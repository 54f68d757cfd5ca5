#include "measure/worker/worker_backend.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tilewright::measure {

absl::StatusOr<std::unique_ptr<backends::Timer>> MakeTimer(
    backends::Device* device, backends::TimerMethod method) {
  if (method == device->timer_method()) {
    return backends::MakeDeviceTimer(device);
  }
  if (method == backends::TimerMethod::kWallClock) {
    return backends::MakeWallClockTimer();
  }
  return absl::UnimplementedError(absl::StrCat(
      "device ", std::string(device->name()), " has no such timer"));
}

}  // namespace tilewright::measure
