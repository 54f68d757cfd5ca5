#include "backends/cuda/device/driver_api.h"

#include <vector>

#include "base/status_macros.h"

namespace tilewright::cuda {

absl::StatusOr<std::shared_ptr<const DriverApi>> OpenDriver(
    const std::string& path) {
  const std::vector<std::string> names =
      path.empty() ? std::vector<std::string>{"libcuda.so.1", "libcuda.so"}
                   : std::vector<std::string>{path};
  auto api = std::make_shared<DriverApi>();
  TW_ASSIGN_OR_RETURN(
      api->library, backends::SharedLibrary::Open(names, "the NVIDIA driver"));
#define TILEWRIGHT_RESOLVE(member, symbol, parameters) \
  TW_RETURN_IF_ERROR(api->library->Resolve(#symbol, &api->member));
  TILEWRIGHT_CUDA_DRIVER_SYMBOLS(TILEWRIGHT_RESOLVE)
#undef TILEWRIGHT_RESOLVE
  return api;
}

}  // namespace tilewright::cuda
