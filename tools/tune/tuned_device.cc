#include "tools/tune/tuned_device.h"

#include <utility>

#include "backends/spec/load_spec.h"
#include "tools/backends.h"

namespace tilewright::tools {

TunedDevice TunedCpu() {
  TunedDevice tuned;
  tuned.backend = "cpu";
  tuned.open = [](int threads) {
    return DeviceFor("cpu", {.num_threads = threads});
  };
  return tuned;
}

TunedDevice TunedGpu(std::shared_ptr<backends::Device> device,
                     const DeviceSpec& spec) {
  TunedDevice tuned;
  tuned.backend = "cuda";
  tuned.backend_options = SpecText(spec);
  tuned.is_gpu = true;
  tuned.kernel_timer =
      device->timer_method() == backends::TimerMethod::kProfilerActivity
          ? measure::Method::PROFILER_ACTIVITY
          : measure::Method::DEVICE_EVENTS;
  tuned.model_timer = measure::Method::WALL_CLOCK;
  tuned.open = [device = std::move(device)](int) {
    return absl::StatusOr<std::shared_ptr<backends::Device>>(device);
  };
  return tuned;
}

}  // namespace tilewright::tools
