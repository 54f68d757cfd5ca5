// Weights that a model quantizes itself, as models that were trained for 8 bits
// do: QuantizeLinear of a constant of floats.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_FOLD_QUANTIZE_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_FOLD_QUANTIZE_H_

#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

// They become constants of 8 bits, before what looks for products of such is
// called. Left to later folding: blocks of scales, and NaN.
void FoldQuantize(OnnxGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_FOLD_QUANTIZE_H_
