#include "backends/cuda/device/cupti_api.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright::cuda {

absl::StatusOr<std::unique_ptr<CuptiApi>> OpenCupti(const std::string& path) {
  std::vector<std::string> names = {path};
  if (path.empty()) {
    names = {"libcupti.so.13", "libcupti.so.12", "libcupti.so",
             "/usr/local/cuda/lib64/libcupti.so",
             "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
  }
  auto api = std::make_unique<CuptiApi>();
  TW_ASSIGN_OR_RETURN(api->library,
                      backends::SharedLibrary::Open(
                          names, "CUPTI, a part of the CUDA toolkit"));
#define TILEWRIGHT_RESOLVE(member, symbol, parameters) \
  TW_RETURN_IF_ERROR(api->library->Resolve(#symbol, &api->member));
  TILEWRIGHT_CUPTI_SYMBOLS(TILEWRIGHT_RESOLVE)
#undef TILEWRIGHT_RESOLVE
  return api;
}

absl::Status ToStatus(const CuptiApi& api, CuptiResult result,
                      const std::string& what) {
  if (result == kCuptiSuccess) return absl::OkStatus();
  const char* text = nullptr;
  if (api.get_result_string(result, &text) != kCuptiSuccess ||
      text == nullptr) {
    text = "an error this CUPTI does not know";
  }
  return absl::UnavailableError(
      absl::StrCat("CUPTI, ", what, ": ", text, " (", result, ")"));
}

}  // namespace tilewright::cuda
