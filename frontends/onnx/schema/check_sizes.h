// Bounds on what an operator becomes: whatever follows may multiply extents.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_SIZES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_SIZES_H_

#include "absl/status/status.h"
#include "frontends/onnx/graph/op_context.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Checks the tensors from number `first` on, which node `op` has added:
// InvalidArgument names a tensor that has more bytes than TensorBytes allows,
// or whose elements have more than 2^50 terms in all.
absl::Status CheckSizes(const OpContext& op, const TensorGraph& graph,
                        int first);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_SIZES_H_
