// The part of HIPRTC that is needed, declared here and resolved at run time:
// nothing of ROCm is needed to build.
#ifndef TILEWRIGHT_BACKENDS_HIP_HIPRTC_HIPRTC_API_H_
#define TILEWRIGHT_BACKENDS_HIP_HIPRTC_HIPRTC_API_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/shared_library.h"

namespace tilewright::hip {

using HiprtcProgram = struct HiprtcProgramHandle*;

// Values of hiprtcResult.
enum HiprtcResult : int {
  kHiprtcSuccess = 0,
  kHiprtcOutOfMemory = 1,
  kHiprtcCompilation = 6,
};

// X(member, symbol, return type, parameters)
#define TILEWRIGHT_HIPRTC_SYMBOLS(X)                                        \
  X(get_error_string, hiprtcGetErrorString, const char*,                    \
    (HiprtcResult result))                                                  \
  X(version, hiprtcVersion, HiprtcResult, (int* major, int* minor))         \
  X(create, hiprtcCreateProgram, HiprtcResult,                              \
    (HiprtcProgram * program, const char* text, const char* name,           \
     int num_headers, const char* const* headers,                           \
     const char* const* include_names))                                     \
  X(destroy, hiprtcDestroyProgram, HiprtcResult, (HiprtcProgram * program)) \
  X(compile, hiprtcCompileProgram, HiprtcResult,                            \
    (HiprtcProgram program, int num_options, const char* const* options))   \
  X(log_size, hiprtcGetProgramLogSize, HiprtcResult,                        \
    (HiprtcProgram program, size_t * bytes))                                \
  X(log, hiprtcGetProgramLog, HiprtcResult,                                 \
    (HiprtcProgram program, char* text))                                    \
  X(code_size, hiprtcGetCodeSize, HiprtcResult,                             \
    (HiprtcProgram program, size_t * bytes))                                \
  X(code, hiprtcGetCode, HiprtcResult, (HiprtcProgram program, char* bytes))

struct HiprtcApi {
#define TILEWRIGHT_MEMBER(member, symbol, result, parameters) \
  result(*member) parameters = nullptr;
  TILEWRIGHT_HIPRTC_SYMBOLS(TILEWRIGHT_MEMBER)
#undef TILEWRIGHT_MEMBER
  std::unique_ptr<backends::SharedLibrary> library;
};

// Opens `path`, or where it is empty HIPRTC's usual names and places.
absl::StatusOr<std::unique_ptr<HiprtcApi>> OpenHiprtc(const std::string& path);

}  // namespace tilewright::hip

#endif  // TILEWRIGHT_BACKENDS_HIP_HIPRTC_HIPRTC_API_H_
