// Errors that name a node.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_NODE_ERRORS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_NODE_ERRORS_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

// The model is wrong: it must be exported again.
template <typename... Parts>
absl::Status InvalidNode(const OnnxGraph& graph, const OnnxNode& node,
                         const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(
      graph.Label(node), ": ", parts..., "; export the model again"));
}

template <typename... Parts>
absl::Status UnimplementedNode(const OnnxGraph& graph, const OnnxNode& node,
                               const Parts&... parts) {
  return absl::UnimplementedError(
      absl::StrCat(graph.Label(node), ": ", parts...));
}

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_NODE_ERRORS_H_
