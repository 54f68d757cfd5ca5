// Refuses attributes that the operators' definitions exclude.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_ATTRIBUTES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_ATTRIBUTES_H_

#include "absl/status/status.h"
#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

// InvalidArgument names node, attribute and value and says what is allowed: an
// attribute that the operator does not have in the model's opset, one of
// another type, a value outside its definition, a required one that is missing.
// Checks that depend on shapes (axes, lengths of lists) are left to the
// inference. REQUIRES: the operator is known (OpTable::CheckSupported).
absl::Status CheckAttributes(const OnnxGraph& graph, const OnnxNode& node);
// Of all nodes.
absl::Status CheckAttributes(const OnnxGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_SCHEMA_CHECK_ATTRIBUTES_H_
