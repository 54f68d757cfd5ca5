// Tensors in files: NumPy's .npy and ONNX's TensorProto .pb.
#ifndef TILEWRIGHT_TOOLS_TENSOR_FILES_H_
#define TILEWRIGHT_TOOLS_TENSOR_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright::tools {

// By the file's ending. InvalidArgument names the file and what is wrong;
// Unimplemented a dtype that tensors here cannot have.
absl::StatusOr<HostTensor> ReadTensor(const std::string& path);

// input_0.pb, input_1.pb, ... (or output_...) of a test_data_set folder, as
// many as there are.
absl::StatusOr<std::vector<HostTensor>> ReadDataSet(const std::string& folder,
                                                    const std::string& prefix);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TENSOR_FILES_H_
