#include "tools/npy.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "tilegraph/expr/new_tensor.h"

namespace tilewright::tools {
namespace {

constexpr absl::string_view kMagic = "\x93NUMPY";

struct NumpyType {
  DType dtype;
  const char* descr;
};
constexpr NumpyType kNumpyTypes[] = {
    {DType::kBool, "|b1"},    {DType::kInt8, "|i1"},
    {DType::kInt16, "<i2"},   {DType::kInt32, "<i4"},
    {DType::kInt64, "<i8"},   {DType::kUInt8, "|u1"},
    {DType::kUInt16, "<u2"},  {DType::kUInt32, "<u4"},
    {DType::kUInt64, "<u8"},  {DType::kFloat16, "<f2"},
    {DType::kFloat32, "<f4"}, {DType::kFloat64, "<f8"},
};

// The text between `key': ` and the next of `ends`, e.g. of {'descr': '<f4',
// 'shape': (3, 4), }.
std::optional<std::string> Field(const std::string& header,
                                 const std::string& key,
                                 absl::string_view ends) {
  const size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == std::string::npos) return std::nullopt;
  const size_t begin = header.find_first_not_of(' ', at + key.size() + 3);
  if (begin == std::string::npos) return std::nullopt;
  const size_t end = header.find_first_of(std::string(ends), begin + 1);
  if (end == std::string::npos) return std::nullopt;
  return header.substr(begin, end - begin);
}

absl::StatusOr<std::vector<int64_t>> ParseShape(const std::string& text) {
  std::vector<int64_t> shape;
  for (const absl::string_view part : absl::StrSplit(
           absl::string_view(text).substr(1), ',', absl::SkipWhitespace())) {
    int64_t extent;
    if (!absl::SimpleAtoi(part, &extent) || extent < 0)
      return absl::InvalidArgumentError("its shape cannot be read");
    shape.push_back(extent);
  }
  return shape;
}

// Whether that many make up a tensor of that shape, however large a header says
// it is.
bool HasElements(const std::vector<int64_t>& shape, int64_t elements) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return elements == 0;
  for (const int64_t extent : shape) {
    if (elements % extent != 0) return false;
    elements /= extent;
  }
  return elements == 1;
}

}  // namespace

std::string ToNpy(const HostTensor& tensor) {
  if (tensor.dtype() == DType::kBFloat16) {
    HostTensor wide(DType::kFloat32, tensor.shape());
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      wide.Set(i, tensor.Get(i));
    return ToNpy(wide);
  }
  std::string descr;
  for (const NumpyType& type : kNumpyTypes) {
    if (type.dtype == tensor.dtype()) descr = type.descr;
  }
  std::string header = absl::StrCat(
      "{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
      absl::StrJoin(tensor.shape(), ", "),
      tensor.shape().size() == 1 ? ",), }" : "), }");
  const size_t preamble = kMagic.size() + 4;
  header.resize((preamble + header.size() + 1 + 63) / 64 * 64 - preamble - 1,
                ' ');
  header += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\0';
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(tensor.data(), tensor.size_bytes());
  return out;
}

absl::StatusOr<HostTensor> ParseNpy(const std::string& bytes) {
  if (!absl::StartsWith(bytes, kMagic) || bytes.size() < 12)
    return absl::InvalidArgumentError("not a .npy file");
  const bool short_header = bytes[6] == 1;
  size_t header_bytes = 0;
  for (int i = short_header ? 1 : 3; i >= 0; --i)
    header_bytes = header_bytes << 8 | static_cast<unsigned char>(bytes[8 + i]);
  const size_t data_at = (short_header ? 10 : 12) + header_bytes;
  if (data_at > bytes.size())
    return absl::InvalidArgumentError("truncated inside its header");
  const std::string header = bytes.substr(short_header ? 10 : 12, header_bytes);
  const std::optional<std::string> descr = Field(header, "descr", ",");
  const std::optional<std::string> order = Field(header, "fortran_order", ",");
  const std::optional<std::string> shape_text = Field(header, "shape", ")");
  if (!descr || !order || !shape_text)
    return absl::InvalidArgumentError("its header cannot be read");
  if (*order != "False")
    return absl::UnimplementedError(
        "it is in Fortran order; save it with numpy.ascontiguousarray");
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                      ParseShape(*shape_text));
  for (const NumpyType& type : kNumpyTypes) {
    if (*descr != absl::StrCat("'", type.descr, "'")) continue;
    const auto data_bytes = static_cast<int64_t>(bytes.size() - data_at);
    if (data_bytes % SizeBytes(type.dtype) != 0 ||
        !HasElements(shape, data_bytes / SizeBytes(type.dtype))) {
      return absl::InvalidArgumentError(
          absl::StrCat("its header promises another size than the ", data_bytes,
                       " bytes of data that it has"));
    }
    TW_ASSIGN_OR_RETURN(HostTensor tensor,
                        NewTensor(type.dtype, shape, "its data"));
    std::copy(bytes.begin() + static_cast<int64_t>(data_at), bytes.end(),
              tensor.data());
    return tensor;
  }
  return absl::UnimplementedError(
      absl::StrCat("its type ", *descr, " has no counterpart here"));
}

absl::Status WriteNpy(const std::string& path, const HostTensor& tensor) {
  return WriteFileAtomically(path, ToNpy(tensor));
}

}  // namespace tilewright::tools
