// Loop and Scan: a graph that is run again and again, each time with what it
// made before.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_UNROLL_LOOPS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_UNROLL_LOOPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// The nodes that take the place of `node`, a Scan of `graph`: its body for each
// slice of what it scans. `infos`: of the values that the node reads.
//
// InvalidArgument: inputs, axes or the body do not fit each other.
// Unimplemented: a Scan of opset 8, more than kMostUnrolled nodes, no slices.
absl::StatusOr<std::vector<OnnxNode>> UnrollScan(
    const OnnxNode& node, const std::vector<ValueInfo>& infos,
    OnnxGraph& graph);

// Of a Loop: its body once, and the Loop that is left, until its condition or
// its trips end it. Each time both must be known, by what the inference of the
// body's nodes has found out. Errors as above; Unimplemented, too: they are not
// known when compiling.
absl::StatusOr<std::vector<OnnxNode>> UnrollLoop(
    const OnnxNode& node, const std::vector<ValueInfo>& infos,
    OnnxGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_UNROLL_LOOPS_H_
