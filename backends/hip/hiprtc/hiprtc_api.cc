#include "backends/hip/hiprtc/hiprtc_api.h"

#include <vector>

#include "base/status_macros.h"

namespace tilewright::hip {

absl::StatusOr<std::unique_ptr<HiprtcApi>> OpenHiprtc(const std::string& path) {
  std::vector<std::string> names = {path};
  if (path.empty()) {
    // Until ROCm 5.4 it was a part of the runtime.
    names = {"libhiprtc.so", "/opt/rocm/lib/libhiprtc.so", "libamdhip64.so.5",
             "libamdhip64.so"};
  }
  auto api = std::make_unique<HiprtcApi>();
  TW_ASSIGN_OR_RETURN(api->library, backends::SharedLibrary::Open(
                                        names, "HIPRTC, a part of ROCm"));
#define TILEWRIGHT_RESOLVE(member, symbol, result, parameters) \
  TW_RETURN_IF_ERROR(api->library->Resolve(#symbol, &api->member));
  TILEWRIGHT_HIPRTC_SYMBOLS(TILEWRIGHT_RESOLVE)
#undef TILEWRIGHT_RESOLVE
  return api;
}

}  // namespace tilewright::hip
