// For tests: the backend "cuda" on the fake driver, with the emulator's modules
// of candidates' CUDA text.
#ifndef TILEWRIGHT_MEASURE_WORKER_CUDA_FAKE_CUDA_WORKER_H_
#define TILEWRIGHT_MEASURE_WORKER_CUDA_FAKE_CUDA_WORKER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/cuda/device/cuda_device.h"
#include "backends/spec/device_spec.pb.h"
#include "measure/worker/worker_backend.h"

namespace tilewright::cuda {

std::unique_ptr<backends::Codegen> FakeCudaCodegen(const DeviceSpec& spec);
absl::StatusOr<std::unique_ptr<CudaDevice>> CreateFakeCudaDevice();

struct FakeCudaFaults {
  // A device that is made while a file of that name exists removes it, and
  // loses the record of its first activity.
  std::string lose_a_record;
  // Candidates of so many blocks touch an address that is not there.
  int64_t faulting_blocks = -1;
};
measure::WorkerBackend FakeCudaWorker(const FakeCudaFaults& faults = {});

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_MEASURE_WORKER_CUDA_FAKE_CUDA_WORKER_H_
