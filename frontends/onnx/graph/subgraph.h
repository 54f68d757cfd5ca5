// Graphs inside of nodes: the branches of an If, the body of a Loop.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_GRAPH_SUBGRAPH_H_
#define TILEWRIGHT_FRONTENDS_ONNX_GRAPH_SUBGRAPH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

struct InlinedSubgraph {
  std::vector<OnnxNode> nodes;  // in the order of data
  std::vector<ValueId> outputs;
};

// The nodes of attribute `name` of `node`, a graph, as nodes of `graph`, where
// what they compute are new values; constants are held once however often.
// `inputs` are its own inputs, what it captures is of `node`'s. InvalidArgument
// as of BuildOnnxGraph, and if inputs are too many, too few, or kNoValue.
// REQUIRES: `node` is of `graph` and has the attribute.
absl::StatusOr<InlinedSubgraph> InlineSubgraph(
    const OnnxNode& node, const std::string& name,
    const std::vector<ValueId>& inputs, OnnxGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_GRAPH_SUBGRAPH_H_
