// GELU, x/2 (1 + erf(x / sqrt(2))), that was written as the five nodes it is
// made of.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_FIND_GELU_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_FIND_GELU_H_

#include <vector>

#include "frontends/onnx/graph/onnx_graph.h"
#include "frontends/onnx/graph/op_context.h"

namespace tilewright {

// Exporters for opsets below 20 write a division or multiplication, Erf, an
// addition and two multiplications in one of three orders; the last of them
// becomes Gelu, which takes three operations fewer for each element. `infos`:
// by ValueId.
void FindGelu(OnnxGraph& graph, const std::vector<ValueInfo>& infos);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_FIND_GELU_H_
