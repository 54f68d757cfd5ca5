#include "backends/gpu_text/prelude.h"

#include "absl/strings/str_cat.h"
#include "backends/gpu_text/prelude_files.h"

namespace tilewright::gpu_text {

std::string_view Name(Dialect dialect) {
  return dialect == Dialect::kCuda ? "cuda" : "hip";
}

std::string Prelude(Dialect dialect) {
  return absl::StrCat(kTypes, dialect == Dialect::kCuda ? kCuda : kHip,
                      kScalars, kVectors, kThreads);
}

}  // namespace tilewright::gpu_text
