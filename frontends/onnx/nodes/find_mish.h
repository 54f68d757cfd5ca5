// Mish, x tanh(softplus(x)), that was written as the three nodes it is made of.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_FIND_MISH_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_FIND_MISH_H_

#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

// Exporters for opsets below 18 write Softplus, Tanh and Mul; the last of them
// becomes Mish, which takes one exponential instead of three functions.
void FindMish(OnnxGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_FIND_MISH_H_
