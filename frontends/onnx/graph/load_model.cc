#include "frontends/onnx/graph/load_model.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/external_data.h"
#include "frontends/onnx/graph/tensor_proto.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"

namespace tilewright {
namespace {

using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::FileInputStream;
using google::protobuf::io::ZeroCopyInputStream;

absl::StatusOr<onnx::ModelProto> Parse(ZeroCopyInputStream& stream,
                                       int64_t size, absl::string_view name,
                                       const LoadLimits& limits) {
  if (size > limits.max_model_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("model ", Quoted(name), " has ", size,
                     " bytes, more than the limit of ", limits.max_model_bytes,
                     "; export its weights as external data"));
  }
  onnx::ModelProto model;
  CodedInputStream input(&stream);
  input.SetTotalBytesLimit(static_cast<int>(limits.max_model_bytes));
  input.SetRecursionLimit(limits.max_nesting);
  if (size == 0 || !model.ParseFromCodedStream(&input) ||
      !input.ConsumedEntireMessage() || input.CurrentPosition() != size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model ", Quoted(name), " (", size,
        " bytes) is no ONNX model, is truncated or nests deeper than ",
        limits.max_nesting, "; export or copy it again"));
  }
  if (!model.has_graph()) {
    return absl::InvalidArgumentError(
        absl::StrCat("model ", Quoted(name),
                     " holds no graph: it is no ONNX model; export it again"));
  }
  return model;
}

absl::Status ResolveTensor(onnx::TensorProto& tensor, const std::string& path,
                           const LoadLimits& limits,
                           std::optional<ExternalData>& files) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) {
    return absl::OkStatus();
  }
  if (!files.has_value()) {
    TW_ASSIGN_OR_RETURN(ExternalData opened,
                        ExternalData::Open(path, limits.max_external_bytes));
    files.emplace(std::move(opened));
  }
  return files->Resolve(tensor);
}

// The parser has bounded the depth of nested graphs.
absl::Status ResolveGraph(onnx::GraphProto& graph, const std::string& path,
                          const LoadLimits& limits,
                          std::optional<ExternalData>& files) {
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    TW_RETURN_IF_ERROR(ResolveTensor(tensor, path, limits, files));
  }
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) {
        TW_RETURN_IF_ERROR(
            ResolveTensor(*attribute.mutable_t(), path, limits, files));
      }
      if (attribute.has_g()) {
        TW_RETURN_IF_ERROR(
            ResolveGraph(*attribute.mutable_g(), path, limits, files));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<onnx::ModelProto> LoadModel(const std::string& path,
                                           const LoadLimits& limits) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return absl::NotFoundError(absl::StrCat("cannot open model ", Quoted(path),
                                            ": ", strerror(errno),
                                            "; check the path"));
  }
  auto closer = absl::MakeCleanup([file] { close(file); });
  struct stat info = {};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model ", Quoted(path), " is no regular file; give an .onnx file"));
  }
  FileInputStream stream(file, 1 << 20);
  TW_ASSIGN_OR_RETURN(onnx::ModelProto model,
                      Parse(stream, info.st_size, path, limits));
  std::optional<ExternalData> files;
  TW_RETURN_IF_ERROR(ResolveGraph(*model.mutable_graph(), path, limits, files));
  return model;
}

absl::StatusOr<onnx::ModelProto> ParseModel(absl::string_view bytes,
                                            absl::string_view name,
                                            const LoadLimits& limits) {
  if (bytes.size() > INT32_MAX) {
    return absl::ResourceExhaustedError(
        absl::StrCat("model ", Quoted(name),
                     " has more than 2 GiB; export its weights as "
                     "external data"));
  }
  ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return Parse(stream, static_cast<int64_t>(bytes.size()), name, limits);
}

}  // namespace tilewright
