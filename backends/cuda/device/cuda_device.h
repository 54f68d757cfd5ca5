// The device half for NVIDIA GPUs. Needs nothing of NVIDIA's to build: the
// driver, and CUPTI if it is there, are opened at run time.
//
// A kernel is an extern "C" __global__ function of its own name. It takes the
// address of each buffer, in the kernel's order, and nothing else. A task is a
// block, with its number in blockIdx.x; it has as many threads as the kernel's
// __launch_bounds__ says, and the launch's scratch bytes as dynamic shared
// memory.
#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_DEVICE_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_DEVICE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::cuda {

struct CudaDeviceOptions {
  int ordinal = 0;
  // Instead of what the driver tells (cuda_spec.h).
  std::optional<DeviceSpec> spec;
  // Time by CUPTI's records of what ran on the device, if CUPTI is there and
  // allowed; otherwise, and without it, by events on the stream. Records cost
  // each launch a little, and are on for the process from then on.
  bool use_profiler = true;
  // Instead of the usual names and places.
  std::string driver_library;
  std::string cupti_library;
};

class CudaDevice : public backends::Device {
 public:
  // As its maker calls it: "NVIDIA H100 80GB HBM3".
  virtual const std::string& product() const = 0;
  // The driver's version: "CUDA 13.0".
  virtual const std::string& driver_version() const = 0;
  // OK while timer_method() is kProfilerActivity, else why it is not (any
  // more).
  virtual absl::Status profiler_status() const = 0;
  // The driver's handle of a stream of this device, for libraries of NVIDIA's
  // that enqueue on it; what they do has records that nobody counts, so time it
  // by events.
  virtual void* native_stream(backends::Stream& stream) const = 0;
};

// Modules are cubins or PTX for a target "cuda:sm_90a", or archives of such
// with one kernel each, whose name the member has; num_threads is 1. Any number
// of threads may use it, each stream by one at a time.
//
// The timer's value is the sum of what the stream's kernels, copies and fills
// took (records), or the time from before the first to after the last one
// (events). From the first record on that CUPTI loses, events time; so they do
// the work it was lost of. Errors of kernels arrive at Synchronize or at any
// later call. After a sticky one (cuda_error.h) every call returns it at once.
//
// FailedPrecondition says what is missing: driver, symbol, device.
absl::StatusOr<std::unique_ptr<CudaDevice>> CreateCudaDevice(
    const CudaDeviceOptions& options = {});

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_DEVICE_H_
