// NVIDIA GPUs as measuring sees a backend.
#ifndef TILEWRIGHT_MEASURE_WORKER_CUDA_CUDA_WORKER_H_
#define TILEWRIGHT_MEASURE_WORKER_CUDA_CUDA_WORKER_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/cuda/device/cuda_device.h"
#include "backends/spec/device_spec.pb.h"
#include "measure/worker/worker_backend.h"

namespace tilewright::cuda {

// Where code and devices come from; tests have others than NVRTC and the
// driver.
struct CudaWorkerParts {
  std::function<absl::StatusOr<std::unique_ptr<backends::Codegen>>(
      const DeviceSpec& spec)>
      codegen;
  std::function<absl::StatusOr<std::unique_ptr<backends::Device>>(
      const DeviceSpec& spec)>
      device;
};

// "cuda": the options are the device's spec, as SpecText writes it; candidates
// are built for it by NVRTC, which needs no GPU. A measurer owns the device's
// context: a sticky error ends it, and its pool starts another. Candidates have
// one thread of the host; they are verified on the device that measures.
measure::WorkerBackend CudaWorker();
measure::WorkerBackend CudaWorker(const CudaWorkerParts& parts);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_MEASURE_WORKER_CUDA_CUDA_WORKER_H_
