#include "bench/ort/test_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "onnx/onnx_pb.h"

namespace tilewright::bench {
namespace {

// The elements of a typed repeated field, converted to T, as bytes.
template <typename T, typename Field>
std::string Pack(const Field& field) {
  std::string bytes;
  for (const auto& element : field) {
    const T value = static_cast<T>(element);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return bytes;
}

template <typename T>
std::vector<double> Unpack(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  }
  return std::vector<double>(values.begin(), values.end());
}

bool Exists(const std::string& path) { return std::ifstream(path).good(); }

}  // namespace

absl::StatusOr<OrtTensor> ReadTensor(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  onnx::TensorProto proto;
  if (!file.good()) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path));
  }
  if (!proto.ParseFromIstream(&file)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not a TensorProto"));
  }
  OrtTensor tensor;
  tensor.name = proto.name();
  tensor.data_type = proto.data_type();
  tensor.dims.assign(proto.dims().begin(), proto.dims().end());
  if (proto.has_raw_data()) {
    tensor.bytes = proto.raw_data();
    return tensor;
  }
  switch (proto.data_type()) {
    case onnx::TensorProto::FLOAT:
      tensor.bytes = Pack<float>(proto.float_data());
      return tensor;
    case onnx::TensorProto::DOUBLE:
      tensor.bytes = Pack<double>(proto.double_data());
      return tensor;
    case onnx::TensorProto::INT64:
      tensor.bytes = Pack<int64_t>(proto.int64_data());
      return tensor;
    case onnx::TensorProto::INT32:
      tensor.bytes = Pack<int32_t>(proto.int32_data());
      return tensor;
    case onnx::TensorProto::BOOL:
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::INT8:
      tensor.bytes = Pack<uint8_t>(proto.int32_data());
      return tensor;
    default:
      return absl::UnimplementedError(absl::StrCat(
          path, ": data type ",
          onnx::TensorProto::DataType_Name(
              static_cast<onnx::TensorProto::DataType>(proto.data_type())),
          " outside raw_data is not supported"));
  }
}

absl::StatusOr<TestData> ReadTestData(const std::string& folder) {
  TestData data;
  for (int i = 0;; ++i) {
    const std::string path = absl::StrCat(folder, "/input_", i, ".pb");
    if (!Exists(path)) break;
    absl::StatusOr<OrtTensor> tensor = ReadTensor(path);
    if (!tensor.ok()) return tensor.status();
    data.inputs.push_back(*std::move(tensor));
  }
  for (int i = 0;; ++i) {
    std::string path = absl::StrCat(folder, "/reference_", i, ".pb");
    if (!Exists(path)) path = absl::StrCat(folder, "/output_", i, ".pb");
    if (!Exists(path)) break;
    absl::StatusOr<OrtTensor> tensor = ReadTensor(path);
    if (!tensor.ok()) return tensor.status();
    data.references.push_back(*std::move(tensor));
  }
  if (data.inputs.empty() && data.references.empty()) {
    return absl::NotFoundError(
        absl::StrCat(folder, " holds no input_0.pb and no output_0.pb"));
  }
  return data;
}

absl::StatusOr<std::vector<double>> ToDouble(const OrtTensor& tensor) {
  switch (tensor.data_type) {
    case onnx::TensorProto::FLOAT:
      return Unpack<float>(tensor.bytes);
    case onnx::TensorProto::DOUBLE:
      return Unpack<double>(tensor.bytes);
    case onnx::TensorProto::INT64:
      return Unpack<int64_t>(tensor.bytes);
    case onnx::TensorProto::INT32:
      return Unpack<int32_t>(tensor.bytes);
    case onnx::TensorProto::BOOL:
    case onnx::TensorProto::UINT8:
      return Unpack<uint8_t>(tensor.bytes);
    case onnx::TensorProto::INT8:
      return Unpack<int8_t>(tensor.bytes);
    default:
      return absl::UnimplementedError(
          absl::StrCat("'", tensor.name, "' has data type ", tensor.data_type,
                       ", which cannot be compared"));
  }
}

absl::StatusOr<double> Error(const std::vector<OrtTensor>& outputs,
                             const std::vector<OrtTensor>& references) {
  if (outputs.size() != references.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        outputs.size(), " outputs, but ", references.size(), " references"));
  }
  double worst = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].dims != references[i].dims) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", i, " has another shape than its reference"));
    }
    absl::StatusOr<std::vector<double>> y = ToDouble(outputs[i]);
    if (!y.ok()) return y.status();
    absl::StatusOr<std::vector<double>> r = ToDouble(references[i]);
    if (!r.ok()) return r.status();
    if (y->size() != r->size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", i, " has ", y->size(), " elements, ",
                       "its reference ", r->size()));
    }
    double error = 0;
    double scale = 0;
    for (size_t k = 0; k < y->size(); ++k) {
      const double a = (*y)[k];
      const double b = (*r)[k];
      if (std::isfinite(b)) scale = std::max(scale, std::fabs(b));
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      const double difference = std::fabs(a - b);
      error = std::isfinite(difference)
                  ? std::max(error, difference)
                  : std::numeric_limits<double>::infinity();
    }
    // An all-zero reference is met exactly or not at all.
    if (error > 0) worst = std::max(worst, error / scale);
  }
  return worst;
}

double ErrorLimit(double peer_error) { return std::max(4 * peer_error, 2e-6); }

}  // namespace tilewright::bench
