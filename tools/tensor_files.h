// Tensors in files: NumPy's .npy and ONNX's TensorProto .pb.
#ifndef TILEWRIGHT_TOOLS_TENSOR_FILES_H_
#define TILEWRIGHT_TOOLS_TENSOR_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::tools {

// By the file's ending. InvalidArgument names the file and what is wrong;
// Unimplemented a dtype that tensors here cannot have.
absl::StatusOr<HostTensor> ReadTensor(const std::string& path);
// As .npy, version 1.0. bf16 has no NumPy type and is written as float32.
absl::Status WriteNpy(const std::string& path, const HostTensor& tensor);

// The bytes of an .npy file, and back.
std::string ToNpy(const HostTensor& tensor);
absl::StatusOr<HostTensor> ParseNpy(const std::string& bytes);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TENSOR_FILES_H_
