// TensorProto and its element types, as the rest of the project sees them.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_GRAPH_TENSOR_PROTO_H_
#define TILEWRIGHT_FRONTENDS_ONNX_GRAPH_TENSOR_PROTO_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "onnx/onnx_pb.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// The dtype of TensorProto::DataType `type`; nullopt for those without one
// (strings, complex numbers, 4- and 8-bit floats, integers of 2 and 4 bits) and
// for numbers that are no type, which attributes may hold.
std::optional<DType> FromOnnxType(int64_t type);

// How elements are kept: as FromOnnxType says, and integers of fewer than 8
// bits in a byte each.
struct ElementType {
  DType dtype;
  int narrow_bits = 0;  // 2 or 4; 0 if all of `dtype` is used
};
std::optional<ElementType> ElementTypeOf(int64_t type);
// Bytes in a file of a tensor that takes `kept_bytes` here.
int64_t FileBytes(const ElementType& type, int64_t kept_bytes);

// "FLOAT", "STRING", "FLOAT8E4M3FN", ...; also for types later than the schema.
std::string OnnxTypeName(int64_t type);

// Bytes of a tensor with these dimensions. InvalidArgument if one is negative
// or the product does not fit.
absl::StatusOr<int64_t> TensorBytes(DType dtype,
                                    absl::Span<const int64_t> shape);

// A copy of the tensor's values. InvalidArgument or Unimplemented, naming the
// tensor, if type, dimensions and data do not fit together, or if the data is
// still in another file (see load_model.h).
absl::StatusOr<HostTensor> ToHostTensor(const onnx::TensorProto& proto);

// For messages: "f32".
std::string DTypeText(DType dtype);
// For messages: "[1, 3, 224, 224]".
std::string ShapeText(absl::Span<const int64_t> shape);
// For messages: the name on one line whatever it holds, and of bounded length.
std::string Escaped(absl::string_view name);
// The same in single quotes.
std::string Quoted(absl::string_view name);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_GRAPH_TENSOR_PROTO_H_
