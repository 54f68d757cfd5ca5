// The CPU's device half: the host's memory and threads. No IR, no LLVM.
#ifndef TILEWRIGHT_BACKENDS_CPU_DEVICE_CPU_DEVICE_H_
#define TILEWRIGHT_BACKENDS_CPU_DEVICE_CPU_DEVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::cpu {

struct CpuDeviceOptions {
  // Threads that run a kernel's tasks, the launching one included. 0: one per
  // core this process may run on.
  int num_threads = 0;
  // Features (backends/spec/cpu_features.h) to believe in instead of asking
  // CPUID; for tests of refusals.
  std::vector<std::string> pretend_features;
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
