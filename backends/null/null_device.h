// The device half of a backend that does nothing yet: where a new one starts.
// See README.md.
#ifndef TILEWRIGHT_BACKENDS_NULL_NULL_DEVICE_H_
#define TILEWRIGHT_BACKENDS_NULL_NULL_DEVICE_H_

#include <memory>

#include "backends/device.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::null {

// Every method returns Unimplemented, but those that describe the device.
std::unique_ptr<backends::Device> CreateNullDevice(const DeviceSpec& spec);

}  // namespace tilewright::null

#endif  // TILEWRIGHT_BACKENDS_NULL_NULL_DEVICE_H_
