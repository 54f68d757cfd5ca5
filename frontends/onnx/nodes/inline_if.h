// If: one of two graphs, chosen by a condition.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_INLINE_IF_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_INLINE_IF_H_

#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// The nodes that take the place of `node`, an If of `graph`, and may be Ifs
// themselves. Of a condition that is known (exporters ask for ranks and sizes)
// the branch that it chooses. Else both, and an If without branches, which
// reads the condition and what they made: it takes the place of theirs once
// their shapes are inferred, and becomes a choice of elements. `infos`: of the
// values that the node reads.
//
// InvalidArgument: the condition is no single bool, a branch is damaged or has
// another number of outputs. Unimplemented: the condition is not known, and
// branches make results of different shapes or types.
absl::StatusOr<std::vector<OnnxNode>> InlineIf(
    const OnnxNode& node, const std::vector<ValueInfo>& infos,
    OnnxGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_INLINE_IF_H_
