// The part of NVRTC that is needed, declared here and resolved at run time:
// nothing of NVIDIA's is needed to build.
#ifndef TILEWRIGHT_BACKENDS_CUDA_NVRTC_NVRTC_API_H_
#define TILEWRIGHT_BACKENDS_CUDA_NVRTC_NVRTC_API_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/shared_library.h"

namespace tilewright::cuda {

using NvrtcProgram = struct NvrtcProgramHandle*;

// Values of nvrtcResult.
enum NvrtcResult : int {
  kNvrtcSuccess = 0,
  kNvrtcOutOfMemory = 1,
  kNvrtcInvalidOption = 5,
  kNvrtcCompilation = 6,
};

// X(member, symbol, return type, parameters)
#define TILEWRIGHT_NVRTC_SYMBOLS(X)                                           \
  X(get_error_string, nvrtcGetErrorString, const char*, (NvrtcResult result)) \
  X(version, nvrtcVersion, NvrtcResult, (int* major, int* minor))             \
  X(num_architectures, nvrtcGetNumSupportedArchs, NvrtcResult, (int* count))  \
  X(architectures, nvrtcGetSupportedArchs, NvrtcResult, (int* numbers))       \
  X(create, nvrtcCreateProgram, NvrtcResult,                                  \
    (NvrtcProgram * program, const char* text, const char* name,              \
     int num_headers, const char* const* headers,                             \
     const char* const* include_names))                                       \
  X(destroy, nvrtcDestroyProgram, NvrtcResult, (NvrtcProgram * program))      \
  X(compile, nvrtcCompileProgram, NvrtcResult,                                \
    (NvrtcProgram program, int num_options, const char* const* options))      \
  X(log_size, nvrtcGetProgramLogSize, NvrtcResult,                            \
    (NvrtcProgram program, size_t * bytes))                                   \
  X(log, nvrtcGetProgramLog, NvrtcResult, (NvrtcProgram program, char* text)) \
  X(cubin_size, nvrtcGetCUBINSize, NvrtcResult,                               \
    (NvrtcProgram program, size_t * bytes))                                   \
  X(cubin, nvrtcGetCUBIN, NvrtcResult, (NvrtcProgram program, char* bytes))

struct NvrtcApi {
#define TILEWRIGHT_MEMBER(member, symbol, result, parameters) \
  result(*member) parameters = nullptr;
  TILEWRIGHT_NVRTC_SYMBOLS(TILEWRIGHT_MEMBER)
#undef TILEWRIGHT_MEMBER
  std::unique_ptr<backends::SharedLibrary> library;
};

// Opens `path`, or where it is empty NVRTC's usual names and places.
absl::StatusOr<std::unique_ptr<NvrtcApi>> OpenNvrtc(const std::string& path);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_NVRTC_NVRTC_API_H_
