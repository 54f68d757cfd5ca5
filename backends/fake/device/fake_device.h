// A device that exists as a model alone, behind the interface of real ones: it
// computes, takes virtual time, and fails for good reason: its kernels crash
// this very process, never end, give wrong results, run out of memory, or leave
// an error that every later call gets.
#ifndef TILEWRIGHT_BACKENDS_FAKE_DEVICE_FAKE_DEVICE_H_
#define TILEWRIGHT_BACKENDS_FAKE_DEVICE_FAKE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/device.h"
#include "backends/fake/device/shared_device.h"

namespace tilewright::fake {

struct FakeDeviceOptions {
  uint64_t seed = 1;  // of the noise
  // Kernels can use the host's memory; else the device has its own, as large as
  // memory_bytes.
  bool unified_memory = true;
  int64_t memory_bytes = int64_t{1} << 30;
  // Outliers, of which the share and factor are those; and so much normal
  // noise.
  DeviceConstants constants;
  double noise = 0.005;
  // While such a file exists there is no device: CreateFakeDevice is
  // Unavailable. For tests of what happens when one is lost.
  std::string lost_while_exists;
};

// The timer shows virtual time: device events. Not thread-safe.
absl::StatusOr<std::unique_ptr<backends::Device>> CreateFakeDevice(
    const FakeDeviceOptions& options = {});

}  // namespace tilewright::fake

#endif  // TILEWRIGHT_BACKENDS_FAKE_DEVICE_FAKE_DEVICE_H_
