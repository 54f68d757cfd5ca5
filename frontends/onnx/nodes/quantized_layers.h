// Layers that are quantized from their operands to their result: what
// exporters write as DequantizeLinear, a layer of floats, and QuantizeLinear.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_QUANTIZED_LAYERS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_QUANTIZED_LAYERS_H_

#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

// Conv and MatMul of dequantized operands, with weights that are constant and
// have scales by output channel, whose result goes to QuantizeLinear alone,
// become QLinearConv and QLinearMatMul: integers, scaled and rounded once. A
// Relu or Clip between goes where the integers' own bounds are as narrow. Left
// as they are: biases that are no multiple of the products' steps, several
// scales of a result, and groups of many channels, which have no instruction
// for integers. Needs constants, not types: to be called before shapes are
// inferred.
void UseQuantizedLayers(OnnxGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_QUANTIZED_LAYERS_H_
