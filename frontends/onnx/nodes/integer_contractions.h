// Convolutions and matrix products of dequantized operands become products of
// the integers themselves.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_INTEGER_CONTRACTIONS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_INTEGER_CONTRACTIONS_H_

#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

// Conv, MatMul and Gemm whose first operand comes from DequantizeLinear with
// one scale and whose second is a dequantized constant with scales by output
// channel become ConvInteger or MatMulInteger, a cast, the product with the
// scales, and the bias. The real numbers are the same; in floats the result is
// nearer to them, as only the last steps round. Left as they are: groups of
// several channels, weights that less their zero points do not fit in i8, and sums that could
// leave i32.
// Needs constants, not types: to be called before shapes are inferred and
// constants folded.
void UseIntegerContractions(OnnxGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_INTEGER_CONTRACTIONS_H_
