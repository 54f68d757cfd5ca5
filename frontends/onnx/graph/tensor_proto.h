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
// (strings, complex numbers, 4- and 8-bit floats, 4-bit integers).
std::optional<DType> FromOnnxType(int type);
// "FLOAT", "STRING", "FLOAT8E4M3FN", ...; also for types later than the schema.
std::string OnnxTypeName(int type);

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
