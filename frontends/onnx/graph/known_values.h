// Values of a graph that are known: what rewrites read and what they add.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_GRAPH_KNOWN_VALUES_H_
#define TILEWRIGHT_FRONTENDS_ONNX_GRAPH_KNOWN_VALUES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_context.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// Input `i` of the node; null if it is left out or not known.
const HostTensor* KnownInput(const OnnxGraph& graph, const OnnxNode& node,
                             size_t i);

// A new value, and its entry behind those of `infos`, which is by ValueId.
ValueId AddKnown(OnnxGraph& graph, std::vector<ValueInfo>& infos,
                 std::string name, HostTensor tensor);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_GRAPH_KNOWN_VALUES_H_
