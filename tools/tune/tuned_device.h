// The device that a search measures on.
#ifndef TILEWRIGHT_TOOLS_TUNE_TUNED_DEVICE_H_
#define TILEWRIGHT_TOOLS_TUNE_TUNED_DEVICE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "backends/spec/device_spec.pb.h"
#include "measure/record/record.pb.h"

namespace tilewright::tools {

struct TunedDevice {
  std::string backend;          // of measure/worker, which main offers
  std::string backend_options;  // as that backend wants them
  // Kernels have all of it: one is measured at a time, and threads of the host
  // mean nothing to them. Else they are timed with one thread and with all
  // cores, several of one thread at a time.
  bool is_gpu = false;
  // What times a kernel, and runs of a whole model, with one thread.
  measure::Method::Timer kernel_timer = measure::Method::THREAD_CPU_TIME;
  measure::Method::Timer model_timer = measure::Method::THREAD_CPU_TIME;
  // To run whole models on.
  std::function<absl::StatusOr<std::shared_ptr<backends::Device>>(int threads)>
      open;
};

// This CPU.
TunedDevice TunedCpu();
// `device`, of which `spec` is what code is generated for. REQUIRES: workers of
// the backend "cuda" find the same one.
TunedDevice TunedGpu(std::shared_ptr<backends::Device> device,
                     const DeviceSpec& spec);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TUNE_TUNED_DEVICE_H_
