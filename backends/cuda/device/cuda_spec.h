#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_SPEC_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_SPEC_H_

#include "absl/status/statusor.h"
#include "backends/cuda/device/driver_api.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::cuda {

// Describes a device as the driver knows it: levels "dram", "l2", "shared" and
// "registers", limits, target. Rates follow from clocks and widths and say so;
// what the driver does not tell (latencies, cache bandwidth) stays unknown.
// Nothing is measured. The name is "cuda_sm_90", whatever the product is
// called: equal structures share records.
absl::StatusOr<DeviceSpec> QuerySpec(const DriverApi& api, CuDevice device);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_SPEC_H_
