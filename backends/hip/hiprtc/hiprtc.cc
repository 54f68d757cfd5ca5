#include "backends/hip/hiprtc/hiprtc.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/hip/hiprtc/hiprtc_api.h"
#include "base/compiler_log.h"
#include "base/run_in_child.h"
#include "base/status_macros.h"

namespace tilewright::hip {
namespace {

constexpr unsigned kOpeningSeconds = 60;
constexpr unsigned kCompilingSeconds = 300;

absl::Status Check(const HiprtcApi& api, HiprtcResult result,
                   const std::string& what) {
  if (result == kHiprtcSuccess) return absl::OkStatus();
  const std::string message =
      absl::StrCat(what, ": ", api.get_error_string(result));
  return result == kHiprtcOutOfMemory ? absl::ResourceExhaustedError(message)
                                      : absl::InternalError(message);
}

std::string LogOf(const HiprtcApi& api, HiprtcProgram program) {
  size_t bytes = 0;
  if (api.log_size(program, &bytes) != kHiprtcSuccess || bytes <= 1) return "";
  std::string log(bytes, '\0');
  if (api.log(program, &log[0]) != kHiprtcSuccess) return "";
  log.resize(log.find_last_not_of('\0') + 1);
  return log;
}

// In the child, which is over soon: nothing is destroyed.
absl::StatusOr<std::string> CompileHere(const HiprtcApi& api,
                                        const std::string& text,
                                        const std::string& name,
                                        const std::string& architecture) {
  HiprtcProgram program = nullptr;
  TW_RETURN_IF_ERROR(Check(
      api,
      api.create(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr),
      "hiprtcCreateProgram"));
  const std::string target = absl::StrCat("--offload-arch=", architecture);
  const std::vector<const char*> options = {target.c_str(), "-std=c++17", "-O3",
                                            "-ffp-contract=off"};
  const HiprtcResult result =
      api.compile(program, static_cast<int>(options.size()), options.data());
  const std::string what = absl::StrCat(name, " for ", architecture);
  if (result == kHiprtcCompilation) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, " does not compile: ", FirstError(LogOf(api, program))));
  }
  TW_RETURN_IF_ERROR(Check(api, result, what));
  size_t bytes = 0;
  TW_RETURN_IF_ERROR(
      Check(api, api.code_size(program, &bytes), "hiprtcGetCodeSize"));
  std::string code(bytes, '\0');
  TW_RETURN_IF_ERROR(Check(api, api.code(program, &code[0]), "hiprtcGetCode"));
  return code;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Hiprtc>> Hiprtc::Open(const std::string& path) {
  const auto version = [&]() -> absl::StatusOr<std::string> {
    TW_ASSIGN_OR_RETURN(const auto api, OpenHiprtc(path));
    int major = 0, minor = 0;
    TW_RETURN_IF_ERROR(
        Check(*api, api->version(&major, &minor), "hiprtcVersion"));
    return absl::StrCat(major, ".", minor);
  };
  TW_ASSIGN_OR_RETURN(std::string found,
                      RunInChild("opening HIPRTC", kOpeningSeconds, version));
  return std::unique_ptr<Hiprtc>(new Hiprtc(path, std::move(found)));
}

absl::StatusOr<std::string> Hiprtc::Compile(
    const std::string& text, const std::string& name,
    const std::string& architecture) const {
  const auto compile = [&]() -> absl::StatusOr<std::string> {
    TW_ASSIGN_OR_RETURN(const auto api, OpenHiprtc(path_));
    return CompileHere(*api, text, name, architecture);
  };
  absl::StatusOr<std::string> code = RunInChild(
      absl::StrCat("HIPRTC ", version_, " with ", name, " for ", architecture),
      kCompilingSeconds, compile);
  if (!absl::IsAborted(code.status())) return code;
  return absl::FailedPreconditionError(
      absl::StrCat(code.status().message(),
                   "; it does so where it does not know the architecture"));
}

}  // namespace tilewright::hip
