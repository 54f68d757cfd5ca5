// For tests: modules that the fake driver runs.
#ifndef TILEWRIGHT_BACKENDS_CUDA_CODEGEN_FOR_FAKE_DRIVER_H_
#define TILEWRIGHT_BACKENDS_CUDA_CODEGEN_FOR_FAKE_DRIVER_H_

#include <memory>

#include "backends/codegen.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::cuda {

// Kernels of another generator, which this machine can run (the CPU's or the
// emulator's), as modules for `spec` that a CUDA device on the fake driver
// loads (device/fake_driver_handle.h).
std::unique_ptr<backends::Codegen> CodegenForFakeDriver(
    std::unique_ptr<backends::Codegen> host, const DeviceSpec& spec);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_CODEGEN_FOR_FAKE_DRIVER_H_
