// Refuses inputs of element types that an operator's definition excludes.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_TYPES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_TYPES_H_

#include "absl/status/status.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// InvalidArgument names node, input and type, what the model's opset allows,
// and the first opset that allows this type if there is one.
absl::Status CheckTypes(const OpContext& op);

// After the inference: operators that move elements pass on that they are
// integers of 2 or 4 bits, and Unimplemented where one would compute with them
// as if they had 8. Conversions do it themselves.
absl::Status PassNarrowTypes(OpContext& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_TYPES_H_
