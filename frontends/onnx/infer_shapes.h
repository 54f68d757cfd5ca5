// Dtype and shape of every value, and the values that are known.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_INFER_SHAPES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_INFER_SHAPES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_context.h"
#include "frontends/onnx/import_options.h"
#include "frontends/onnx/ops/op_table.h"

namespace tilewright {

// By ValueId. Inputs that `options` binds become constants and leave
// graph.inputs; nodes whose results are known are removed, and the graphs of
// control flow take its place (inline_if.h, unroll_loops.h).
// InvalidArgument names the node and both shapes of a contradiction, or the
// flag that gives a dimension its value.
absl::StatusOr<std::vector<ValueInfo>> InferShapes(
    OnnxGraph& graph, const OpTable& table, const ImportOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_INFER_SHAPES_H_
