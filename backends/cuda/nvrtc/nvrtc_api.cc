#include "backends/cuda/nvrtc/nvrtc_api.h"

#include <vector>

#include "base/status_macros.h"

namespace tilewright::cuda {

absl::StatusOr<std::unique_ptr<NvrtcApi>> OpenNvrtc(const std::string& path) {
  std::vector<std::string> names = {path};
  if (path.empty()) {
    names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
             "/usr/local/cuda/lib64/libnvrtc.so"};
  }
  auto api = std::make_unique<NvrtcApi>();
  TW_ASSIGN_OR_RETURN(api->library,
                      backends::SharedLibrary::Open(
                          names, "NVRTC, a part of the CUDA toolkit"));
#define TILEWRIGHT_RESOLVE(member, symbol, result, parameters) \
  TW_RETURN_IF_ERROR(api->library->Resolve(#symbol, &api->member));
  TILEWRIGHT_NVRTC_SYMBOLS(TILEWRIGHT_RESOLVE)
#undef TILEWRIGHT_RESOLVE
  return api;
}

}  // namespace tilewright::cuda
