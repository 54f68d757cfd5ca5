#include "backends/cuda/device/cuda_error.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace tilewright::cuda {
namespace {

constexpr char kStickyPayload[] = "tilewright/sticky-device-error";

struct Meaning {
  CuResult result;  // values of CUresult
  absl::StatusCode code;
  bool sticky;
};

using absl::StatusCode;

constexpr Meaning kMeanings[] = {
    {2, StatusCode::kResourceExhausted, false},     // OUT_OF_MEMORY
    {3, StatusCode::kFailedPrecondition, false},    // NOT_INITIALIZED
    {34, StatusCode::kFailedPrecondition, false},   // STUB_LIBRARY
    {36, StatusCode::kFailedPrecondition, false},   // REQUIRES_NEWER_DRIVER
    {46, StatusCode::kUnavailable, false},          // DEVICE_UNAVAILABLE
    {100, StatusCode::kFailedPrecondition, false},  // NO_DEVICE
    {101, StatusCode::kFailedPrecondition, false},  // INVALID_DEVICE
    {200, StatusCode::kInvalidArgument, false},     // INVALID_IMAGE
    {209, StatusCode::kFailedPrecondition, false},  // NO_BINARY_FOR_GPU
    {214, StatusCode::kUnavailable, true},          // ECC_UNCORRECTABLE
    {218, StatusCode::kInvalidArgument, false},     // INVALID_PTX
    {220, StatusCode::kUnavailable, true},          // NVLINK_UNCORRECTABLE
    {221, StatusCode::kFailedPrecondition, false},  // JIT_COMPILER_NOT_FOUND
    {222, StatusCode::kFailedPrecondition, false},  // UNSUPPORTED_PTX_VERSION
    {223, StatusCode::kFailedPrecondition, false},  // JIT_COMPILATION_DISABLED
    {226, StatusCode::kUnavailable, true},          // CONTAINED
    {300, StatusCode::kInvalidArgument, false},     // INVALID_SOURCE
    {500, StatusCode::kNotFound, false},            // NOT_FOUND
    {700, StatusCode::kAborted, true},              // ILLEGAL_ADDRESS
    {701, StatusCode::kResourceExhausted, false},   // LAUNCH_OUT_OF_RESOURCES
    {702, StatusCode::kDeadlineExceeded, true},     // LAUNCH_TIMEOUT
    {709, StatusCode::kUnavailable, true},          // CONTEXT_IS_DESTROYED
    {710, StatusCode::kAborted, true},              // ASSERT
    {714, StatusCode::kAborted, true},              // HARDWARE_STACK_ERROR
    {715, StatusCode::kAborted, true},              // ILLEGAL_INSTRUCTION
    {716, StatusCode::kAborted, true},              // MISALIGNED_ADDRESS
    {717, StatusCode::kAborted, true},              // INVALID_ADDRESS_SPACE
    {718, StatusCode::kAborted, true},              // INVALID_PC
    {719, StatusCode::kAborted, true},              // LAUNCH_FAILED
    {721, StatusCode::kAborted, true},              // TENSOR_MEMORY_LEAK
    {801, StatusCode::kUnimplemented, false},       // NOT_SUPPORTED
    {802, StatusCode::kUnavailable, false},         // SYSTEM_NOT_READY
    {803, StatusCode::kFailedPrecondition, false},  // DRIVER_MISMATCH
    {804, StatusCode::kFailedPrecondition, false},  // COMPAT_NOT_SUPPORTED
};

Meaning MeaningOf(CuResult result) {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.result == result) return meaning;
  }
  return {result, StatusCode::kInternal, false};
}

}  // namespace

absl::Status ToStatus(const DriverApi& api, CuResult result,
                      const std::string& what) {
  if (result == kCuSuccess) return absl::OkStatus();
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.get_error_name(result, &name) != kCuSuccess || name == nullptr) {
    name = "an error this driver does not know";
  }
  if (api.get_error_string(result, &text) != kCuSuccess || text == nullptr) {
    text = "no text";
  }
  const Meaning meaning = MeaningOf(result);
  absl::Status status(
      meaning.code,
      absl::StrCat(what, ": ", name, " (", result, "): ", text,
                   meaning.sticky ? "; the device is lost to this process: "
                                    "start another one"
                                  : ""));
  if (meaning.sticky) status.SetPayload(kStickyPayload, absl::Cord());
  return status;
}

bool IsSticky(CuResult result) { return MeaningOf(result).sticky; }

bool IsStickyDeviceError(const absl::Status& status) {
  return status.GetPayload(kStickyPayload).has_value();
}

}  // namespace tilewright::cuda
