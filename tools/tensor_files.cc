#include "tools/tensor_files.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "tools/npy.h"

namespace tilewright::tools {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{1} << 33;

absl::StatusOr<HostTensor> ParsePb(const std::string& bytes) {
  onnx::TensorProto proto;
  if (!proto.ParseFromString(bytes))
    return absl::InvalidArgumentError("not a TensorProto");
  return ToHostTensor(proto);
}

}  // namespace

absl::StatusOr<HostTensor> ReadTensor(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxFileBytes));
  absl::StatusOr<HostTensor> tensor =
      absl::InvalidArgumentError("neither .npy nor .pb");
  if (absl::EndsWith(path, ".npy")) tensor = ParseNpy(bytes);
  if (absl::EndsWith(path, ".pb")) tensor = ParsePb(bytes);
  if (tensor.ok()) return tensor;
  return absl::Status(tensor.status().code(),
                      absl::StrCat(path, ": ", tensor.status().message()));
}

absl::StatusOr<std::vector<HostTensor>> ReadDataSet(const std::string& folder,
                                                    const std::string& prefix) {
  std::vector<HostTensor> tensors;
  for (;;) {
    const std::string path =
        absl::StrCat(folder, "/", prefix, "_", tensors.size(), ".pb");
    if (access(path.c_str(), F_OK) != 0) return tensors;
    TW_ASSIGN_OR_RETURN(HostTensor tensor, ReadTensor(path));
    tensors.push_back(std::move(tensor));
  }
}

}  // namespace tilewright::tools
