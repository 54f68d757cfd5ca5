// Norms of groups of channels that were written as norms of instances.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_FIND_GROUP_NORMS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_FIND_GROUP_NORMS_H_

#include <vector>

#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// Exporters for opsets without GroupNormalization reshape an image to
// [n, groups, ...], normalize instances and reshape it back, then multiply and
// add channels: those nodes become one GroupNormalization. Known factors are
// multiplied in double. `infos` is by ValueId and grows with the graph.
void FindGroupNorms(OnnxGraph& graph, std::vector<ValueInfo>& infos);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_FIND_GROUP_NORMS_H_
