// The parts of a backend that measuring uses; binaries pass a list of them.
#ifndef TILEWRIGHT_MEASURE_WORKER_WORKER_BACKEND_H_
#define TILEWRIGHT_MEASURE_WORKER_WORKER_BACKEND_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "backends/device_timer.h"
#include "measure/verify/device_candidate.h"
#include "measure/worker/protocol.pb.h"
#include "sketch/trace/schedule.pb.h"
#include "sketch/trace/workload.h"

namespace tilewright::measure {

// Not thread-safe. An error is the candidate's.
using BuildFunction = std::function<absl::StatusOr<BuiltCandidate>(
    const sketch::Workload&, const sketch::ScheduleProto&)>;

// Its functions are called in child processes. `options` are
// ProcessPoolOptions::backend_options.
struct WorkerBackend {
  std::string name;  // "cpu"

  std::function<absl::StatusOr<BuildFunction>(const std::string& options)>
      builder;
  // The device that measures.
  std::function<absl::StatusOr<std::unique_ptr<backends::Device>>(
      const std::string& options, int threads)>
      device;
  // Unimplemented if the device has no such timer.
  std::function<absl::StatusOr<std::unique_ptr<backends::Timer>>(
      backends::Device*, backends::TimerMethod)>
      timer;
  // Devices of children that verify one candidate each. Empty: candidates are
  // verified on the device that measures, as a driver may not survive a fork.
  DeviceFactory verifying_device;
  // Work of some ten microseconds that shows how fast the core is
  // (steady_core.h). Empty: candidates do not run on cores of this host.
  std::function<void()> core_work;
  // Its driver opens files for writing.
  bool opens_devices = false;
};

// The device's own clock, or the wall clock.
absl::StatusOr<std::unique_ptr<backends::Timer>> MakeTimer(
    backends::Device* device, backends::TimerMethod method);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_WORKER_WORKER_BACKEND_H_
