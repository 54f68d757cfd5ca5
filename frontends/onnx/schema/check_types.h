// Refuses inputs of element types that an operator's definition excludes.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_TYPES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_TYPES_H_

#include "absl/status/status.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// InvalidArgument names node, input and type, what the model's opset allows,
// and the first opset that allows this type if there is one.
absl::Status CheckTypes(const OpContext& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_TYPES_H_
