// The CPU's device half: the host's memory and threads. No IR, no LLVM.
#ifndef TILEWRIGHT_BACKENDS_CPU_DEVICE_CPU_DEVICE_H_
#define TILEWRIGHT_BACKENDS_CPU_DEVICE_CPU_DEVICE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/device/task_log.h"
#include "backends/device.h"
#include "backends/guarded_buffer.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::cpu {

struct CpuDeviceOptions {
  // Threads that run a kernel's tasks, the launching one included. 0: one per
  // core this process may run on.
  int num_threads = 0;
  // Features (backends/spec/cpu_features.h) to believe in instead of asking
  // CPUID; for tests of refusals.
  std::vector<std::string> pretend_features;
  // For verifying kernels, slow: each task is run on its own with scratch that
  // is all NaN at first and has an inaccessible page on this side; with kBegin
  // the last task comes first, so that one that writes another's elements
  // shows. Launch fails with Internal if a kernel wrote beside its scratch.
  std::optional<backends::GuardedBuffer::Side> scratch_guard;
  // Kernels take denormal numbers as zeros, and give zeros instead (MXCSR's DAZ
  // and FTZ): many CPUs need a hundred cycles for each. The mode of the
  // launching thread is its own again when a launch returns.
  bool flush_denormals = false;
  // Told of every piece of every launch while it is enabled; outlives the
  // device.
  TaskLog* task_log = nullptr;
};

// The host. Thread-safe; several streams share its threads, one launch after
// another. Launches and copies are done when they return.
//
// The timer is the launching thread's CPU time with one thread, the wall clock
// with more. Unimplemented if the CPU is older than x86-64-v2.
absl::StatusOr<std::unique_ptr<backends::Device>> CreateCpuDevice(
    const CpuDeviceOptions& options = {});

}  // namespace tilewright::cpu

#endif  // TILEWRIGHT_BACKENDS_CPU_DEVICE_CPU_DEVICE_H_
