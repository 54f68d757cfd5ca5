// DequantizeLinear moves behind what only picks or moves elements.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_SINK_DEQUANTIZE_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_SINK_DEQUANTIZE_H_

#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

// max(s (q - z)) = s (max(q) - z): MaxPool, Transpose, reshapes work on 8 bits.
// Needs constants, not types: to be called before shapes are inferred.
void SinkDequantize(OnnxGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_SINK_DEQUANTIZE_H_
