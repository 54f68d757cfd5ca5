#include "frontends/onnx/graph/tensor_proto.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "frontends/onnx/graph/narrow_integers.h"
#include "tilegraph/expr/new_tensor.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxTensorBytes = int64_t{1} << 42;
constexpr size_t kLongestName = 300;

// Copies the values of a repeated field whose elements are wider than, or as
// wide as, those of the tensor.
template <typename T, typename Field>
void Narrow(const Field& field, HostTensor& tensor) {
  absl::Span<T> to = tensor.as<T>();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<T>(field[static_cast<int>(i)]);
  }
}

absl::Status WrongSize(const onnx::TensorProto& proto, DType dtype,
                       int64_t wanted, int64_t found, absl::string_view unit) {
  return absl::InvalidArgumentError(absl::StrCat(
      "tensor ", Quoted(proto.name()), " of ", DTypeText(dtype), " ",
      ShapeText(std::vector<int64_t>(proto.dims().begin(), proto.dims().end())),
      " needs ", wanted, " ", unit, " but the model holds ", found,
      "; the model is damaged, export it again"));
}

// Checks the count, then copies.
template <typename T, typename Field>
absl::Status Take(const onnx::TensorProto& proto, const Field& field,
                  HostTensor& tensor) {
  if (field.size() != tensor.num_elements()) {
    return WrongSize(proto, tensor.dtype(), tensor.num_elements(), field.size(),
                     "values");
  }
  Narrow<T>(field, tensor);
  return absl::OkStatus();
}

absl::Status TakeTyped(const onnx::TensorProto& proto, HostTensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kBool:
    case DType::kInt8:
    case DType::kUInt8:
      return Take<uint8_t>(proto, proto.int32_data(), tensor);
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return Take<uint16_t>(proto, proto.int32_data(), tensor);
    case DType::kInt32:
      return Take<int32_t>(proto, proto.int32_data(), tensor);
    case DType::kInt64:
      return Take<int64_t>(proto, proto.int64_data(), tensor);
    case DType::kUInt32:
      return Take<uint32_t>(proto, proto.uint64_data(), tensor);
    case DType::kUInt64:
      return Take<uint64_t>(proto, proto.uint64_data(), tensor);
    case DType::kFloat32:
      return Take<float>(proto, proto.float_data(), tensor);
    case DType::kFloat64:
      return Take<double>(proto, proto.double_data(), tensor);
  }
  return absl::InternalError("no such dtype");
}

// Several elements to a byte, and a byte to a value of `int32_data`.
absl::Status TakePacked(const onnx::TensorProto& proto, int bits,
                        HostTensor& tensor) {
  if (proto.has_raw_data()) {
    UnpackIntegers(proto.raw_data(), bits, tensor);
    return absl::OkStatus();
  }
  const int64_t wanted = PackedBytes(tensor.num_elements(), bits);
  if (proto.int32_data_size() != wanted) {
    return WrongSize(proto, tensor.dtype(), wanted, proto.int32_data_size(),
                     "values");
  }
  UnpackIntegers(
      std::string(proto.int32_data().begin(), proto.int32_data().end()), bits,
      tensor);
  return absl::OkStatus();
}

}  // namespace

std::optional<DType> FromOnnxType(int64_t type) {
  switch (type) {
    case onnx::TensorProto::FLOAT:
      return DType::kFloat32;
    case onnx::TensorProto::UINT8:
      return DType::kUInt8;
    case onnx::TensorProto::INT8:
      return DType::kInt8;
    case onnx::TensorProto::UINT16:
      return DType::kUInt16;
    case onnx::TensorProto::INT16:
      return DType::kInt16;
    case onnx::TensorProto::INT32:
      return DType::kInt32;
    case onnx::TensorProto::INT64:
      return DType::kInt64;
    case onnx::TensorProto::BOOL:
      return DType::kBool;
    case onnx::TensorProto::FLOAT16:
      return DType::kFloat16;
    case onnx::TensorProto::DOUBLE:
      return DType::kFloat64;
    case onnx::TensorProto::UINT32:
      return DType::kUInt32;
    case onnx::TensorProto::UINT64:
      return DType::kUInt64;
    case onnx::TensorProto::BFLOAT16:
      return DType::kBFloat16;
    default:
      return std::nullopt;
  }
}

std::optional<ElementType> ElementTypeOf(int64_t type) {
  if (const auto narrow = NarrowIntegerOf(type))
    return ElementType{narrow->dtype, narrow->bits};
  const std::optional<DType> dtype = FromOnnxType(type);
  if (!dtype.has_value()) return std::nullopt;
  return ElementType{*dtype};
}

int64_t FileBytes(const ElementType& type, int64_t kept_bytes) {
  return type.narrow_bits == 0 ? kept_bytes
                               : PackedBytes(kept_bytes, type.narrow_bits);
}

std::string OnnxTypeName(int64_t type) {
  static constexpr const char* kNames[] = {
      "UNDEFINED",      "FLOAT",      "UINT8",
      "INT8",           "UINT16",     "INT16",
      "INT32",          "INT64",      "STRING",
      "BOOL",           "FLOAT16",    "DOUBLE",
      "UINT32",         "UINT64",     "COMPLEX64",
      "COMPLEX128",     "BFLOAT16",   "FLOAT8E4M3FN",
      "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ",
      "UINT4",          "INT4",       "FLOAT4E2M1",
      "FLOAT8E8M0",     "UINT2",      "INT2"};
  constexpr int kCount = sizeof(kNames) / sizeof(kNames[0]);
  return type >= 0 && type < kCount ? kNames[type]
                                    : absl::StrCat("number ", type);
}

absl::StatusOr<int64_t> TensorBytes(DType dtype,
                                    absl::Span<const int64_t> shape) {
  int64_t bytes = SizeBytes(dtype);
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "shape ", ShapeText(shape), " has a negative dimension"));
    }
    if (dim == 0) {
      empty = true;
    } else if (bytes > kMaxTensorBytes / dim) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape ", ShapeText(shape), " is larger than ",
                       kMaxTensorBytes, " bytes"));
    } else {
      bytes *= dim;
    }
  }
  return empty ? 0 : bytes;
}

absl::StatusOr<HostTensor> ToHostTensor(const onnx::TensorProto& proto) {
  const std::string name = Quoted(proto.name());
  const std::optional<ElementType> type = ElementTypeOf(proto.data_type());
  if (!type.has_value()) {
    return absl::UnimplementedError(absl::StrCat(
        "tensor ", name, " has element type ", OnnxTypeName(proto.data_type()),
        ", which is not supported; export the model with another"));
  }
  if (proto.has_segment()) {
    return absl::UnimplementedError(
        absl::StrCat("tensor ", name,
                     " is stored in segments, which is not supported; export "
                     "the model again"));
  }
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor ", name,
                     " keeps its data in another file; load the model from its "
                     "folder"));
  }
  std::vector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  const absl::StatusOr<int64_t> bytes = TensorBytes(type->dtype, shape);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("tensor ", name, ": ",
                                                   bytes.status().message(),
                                                   "; export the model again"));
  }
  // Before anything is allocated: the data must be there.
  const int64_t file_bytes = FileBytes(*type, *bytes);
  if (proto.has_raw_data()) {
    const auto held = static_cast<int64_t>(proto.raw_data().size());
    if (held != file_bytes)
      return WrongSize(proto, type->dtype, file_bytes, held, "bytes");
  } else {
    const int64_t held = int64_t{proto.float_data_size()} +
                         proto.int32_data_size() + proto.int64_data_size() +
                         proto.uint64_data_size() + proto.double_data_size();
    const int64_t wanted =
        type->narrow_bits != 0 ? file_bytes : *bytes / SizeBytes(type->dtype);
    if (held != wanted)
      return WrongSize(proto, type->dtype, wanted, held, "values");
  }
  TW_ASSIGN_OR_RETURN(
      HostTensor tensor,
      NewTensor(type->dtype, std::move(shape), absl::StrCat("tensor ", name)));
  if (type->narrow_bits != 0) {
    TW_RETURN_IF_ERROR(TakePacked(proto, type->narrow_bits, tensor));
  } else if (!proto.has_raw_data()) {
    TW_RETURN_IF_ERROR(TakeTyped(proto, tensor));
  } else if (*bytes > 0) {
    std::memcpy(tensor.data(), proto.raw_data().data(), *bytes);
  }
  if (type->dtype == DType::kBool) {
    for (char& value : tensor.as<char>()) value = value != 0;
  }
  return tensor;
}

std::string DTypeText(DType dtype) { return std::string(Name(dtype)); }

std::string ShapeText(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

std::string Escaped(absl::string_view name) {
  std::string text = absl::Utf8SafeCEscape(name);
  if (text.size() > kLongestName) {
    text = absl::StrCat(text.substr(0, kLongestName), "...");
  }
  return text;
}

std::string Quoted(absl::string_view name) {
  return absl::StrCat("'", Escaped(name), "'");
}

}  // namespace tilewright
