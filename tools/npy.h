// Tensors as NumPy's .npy files, version 1.0. bf16 has no NumPy type and is
// written as float32.
#ifndef TILEWRIGHT_TOOLS_NPY_H_
#define TILEWRIGHT_TOOLS_NPY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::tools {

// The bytes of a file, and back: InvalidArgument says what is wrong,
// Unimplemented that tensors here cannot have its dtype.
std::string ToNpy(const HostTensor& tensor);
absl::StatusOr<HostTensor> ParseNpy(const std::string& bytes);

absl::Status WriteNpy(const std::string& path, const HostTensor& tensor);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_NPY_H_
