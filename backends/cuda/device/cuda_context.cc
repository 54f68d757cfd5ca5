#include "backends/cuda/device/cuda_context.h"

#include "backends/cuda/device/cuda_error.h"
#include "base/status_macros.h"

namespace tilewright::cuda {

absl::StatusOr<std::shared_ptr<CudaContext>> CudaContext::Create(
    std::shared_ptr<const DriverApi> api, CuDevice device) {
  CuContext handle = nullptr;
  TW_RETURN_IF_ERROR(ToStatus(*api,
                              api->primary_context_retain(&handle, device),
                              "cuDevicePrimaryCtxRetain"));
  return std::shared_ptr<CudaContext>(
      new CudaContext(std::move(api), device, handle));
}

CudaContext::~CudaContext() { api_->primary_context_release(device_); }

absl::Status CudaContext::Enter() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!sticky_.ok()) return sticky_;
  }
  return Check(api_->context_set_current(handle_), "cuCtxSetCurrent");
}

absl::Status CudaContext::Check(CuResult result, const std::string& what) {
  if (result == kCuSuccess) return absl::OkStatus();
  const absl::Status status = ToStatus(*api_, result, what);
  if (IsSticky(result)) {
    std::lock_guard<std::mutex> lock(mutex_);
    // The first one says what happened.
    if (sticky_.ok()) sticky_ = status;
    return sticky_;
  }
  return status;
}

}  // namespace tilewright::cuda
