// The emulator's device half: GPU text runs on the calling thread, one block
// after the other. For tests; its times say nothing of GPUs.
#ifndef TILEWRIGHT_BACKENDS_EMULATOR_DEVICE_EMULATOR_DEVICE_H_
#define TILEWRIGHT_BACKENDS_EMULATOR_DEVICE_EMULATOR_DEVICE_H_

#include <functional>
#include <memory>

#include "backends/device.h"
#include "backends/emulator/device/access_counts.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::emulator {

struct EmulatorDeviceOptions {
  // Called on the launching thread after every launch of a kernel whose module
  // counts.
  std::function<void(const KernelCounts&)> on_counts;
};

// As a GPU whose memory the host cannot touch: addresses of buffers are none of
// the host's, and every copy, fill and argument is checked to lie in a buffer.
// New memory and the shared memory of every block hold NaN. Buffers end at an
// inaccessible page.
//
// Modules are those of emulator/codegen, of either dialect. A launch whose
// kernel leaves the memory of its buffers returns OutOfRange: with line, block
// and thread if the module is a checked one, else only if it met such a page.
// Checked modules also report races (Aborted, with both threads and lines) and
// reads of shared memory that nobody wrote (FailedPrecondition); all modules,
// threads that wait for each other at different places (FailedPrecondition).
// ResourceExhausted if a block wants more shared memory than spec.unit() has.
//
// Any number of threads may use it, each stream by one at a time. The timer is
// the launching thread's CPU time.
std::unique_ptr<backends::Device> CreateEmulatorDevice(
    const DeviceSpec& spec, const EmulatorDeviceOptions& options = {});

}  // namespace tilewright::emulator

#endif  // TILEWRIGHT_BACKENDS_EMULATOR_DEVICE_EMULATOR_DEVICE_H_
