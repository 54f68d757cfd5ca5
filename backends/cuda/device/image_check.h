#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_IMAGE_CHECK_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_IMAGE_CHECK_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright::cuda {

enum class ImageKind { kCubin, kPtx };

// The driver takes an image without its size and reads as far as the image's
// own headers say, so they are checked first. InvalidArgument unless the bytes
// are a whole ELF file for NVIDIA's machine, with all headers, sections and
// segments inside, or PTX: text that begins with its version.
absl::StatusOr<ImageKind> CheckImage(std::string_view bytes);

// Whether code for `target` ("sm_80", "sm_90a") runs on a device of compute
// capability major.minor. A cubin: the same major number, a minor number not
// above the device's; PTX: a capability not above the device's; code for
// architecture-specific features (the "a"): exactly that one.
// FailedPrecondition otherwise, InvalidArgument if the target is none.
absl::Status CheckArchitecture(std::string_view target, ImageKind kind,
                               int major, int minor);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_IMAGE_CHECK_H_
