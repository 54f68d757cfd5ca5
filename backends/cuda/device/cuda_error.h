// Translates the driver's errors into statuses; the one place that knows their
// numbers.
#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_ERROR_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "backends/cuda/device/driver_api.h"

namespace tilewright::cuda {

// One line: what was done, the driver's name of the error and its text.
//   ResourceExhausted   no memory; more registers or shared memory than there
//                       are
//   InvalidArgument     no module: damaged image, bad PTX
//   NotFound            no such symbol
//   FailedPrecondition  no device, no driver, code for another device
//   Unimplemented       the device cannot do that
//   Aborted             the kernel's fault, and sticky: see below
//   DeadlineExceeded    the kernel ran too long for this device: sticky
//   Unavailable         the device's fault (ECC, lost): sticky
//   Internal            everything else: wrong use
absl::Status ToStatus(const DriverApi& api, CuResult result,
                      const std::string& what);

// Whether after this every call of the process on that device fails likewise.
// Only another process can go on.
bool IsSticky(CuResult result);

// The same of a status of this device: for those who restart workers.
bool IsStickyDeviceError(const absl::Status& status);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_ERROR_H_
