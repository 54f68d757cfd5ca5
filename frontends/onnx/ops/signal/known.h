// Inputs and results of a node that are known when compiling.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_SIGNAL_KNOWN_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_SIGNAL_KNOWN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontends/onnx/graph/op_context.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// Numbers of a table that is made when compiling.
constexpr int64_t kMostNumbers = int64_t{1} << 26;

// The number that input `i` is, `name` in messages. Unimplemented if it is not
// known, InvalidArgument if it is not one number from `least` to `most`.
absl::StatusOr<int64_t> KnownNumber(const OpContext& op, int i,
                                    absl::string_view name, int64_t least,
                                    int64_t most);

// The type that attribute 'output_datatype' names, f32 without it.
// Unimplemented unless it is one of numbers.
absl::StatusOr<DType> NamedType(const OpContext& op);

// Output 0 is `value`.
void SetKnown(OpContext& op, HostTensor value);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_SIGNAL_KNOWN_H_
