// Verifies every kernel of the given models on its own.
//
//   verify_kernels MODEL.onnx...
//
// Exit status 1 if one is rejected.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/model/kernel_verifier.h"

namespace tilewright::bench {
namespace {

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "verify_kernels: no model was given\n");
    return 2;
  }
  const char* const base = std::getenv("BUILD_WORKING_DIRECTORY");
  bool ok = true;
  for (int i = 1; i < argc; ++i) {
    const std::string path = base == nullptr || argv[i][0] == '/'
                                 ? argv[i]
                                 : absl::StrCat(base, "/", argv[i]);
    const absl::StatusOr<std::vector<VerifiedKernel>> verified =
        VerifyKernels(path, 2);
    if (!verified.ok()) {
      std::fprintf(stderr, "verify_kernels: %s: %s\n", path.c_str(),
                   std::string(verified.status().message()).c_str());
      ok = false;
      continue;
    }
    std::printf("%s\n", path.c_str());
    for (const VerifiedKernel& kernel : *verified) {
      std::printf(
          "  %-5s %-8s %6.2f s  %s  largest error %.2f bounds (4 allowed), "
          "%.2f %% unbounded (3 allowed)  %s%s%s\n",
          kernel.name.c_str(), kernel.verdict.ok ? "ok" : "REJECTED",
          kernel.seconds,
          kernel.verdict.exact_checked ? "exact+real" : "real only ",
          kernel.verdict.largest_error, 100 * kernel.verdict.unbounded_share,
          kernel.label.c_str(), kernel.verdict.ok ? "" : ": ",
          kernel.verdict.reason.c_str());
      ok = ok && kernel.verdict.ok;
    }
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argc, char** argv) { return tilewright::bench::Main(argc, argv); }
