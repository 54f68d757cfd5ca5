#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_CONTEXT_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_CONTEXT_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/device/driver_api.h"

namespace tilewright::cuda {

// The device's primary context, and whether an error has broken it. Shared by
// all that lives in it. Thread-safe.
class CudaContext {
 public:
  static absl::StatusOr<std::shared_ptr<CudaContext>> Create(
      std::shared_ptr<const DriverApi> api, CuDevice device);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const DriverApi& api() const { return *api_; }
  CuContext handle() const { return handle_; }

  // Comes before calls of the driver: makes the context the calling thread's.
  // The sticky error, if there was one.
  absl::Status Enter();
  // The status of a call; a sticky error is kept.
  absl::Status Check(CuResult result, const std::string& what);

 private:
  CudaContext(std::shared_ptr<const DriverApi> api, CuDevice device,
              CuContext handle)
      : api_(std::move(api)), device_(device), handle_(handle) {}

  const std::shared_ptr<const DriverApi> api_;
  const CuDevice device_;
  const CuContext handle_;
  std::mutex mutex_;
  absl::Status sticky_;
};

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_CONTEXT_H_
