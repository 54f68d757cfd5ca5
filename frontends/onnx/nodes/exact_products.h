// Quotients that are rounded to 8 bits, as products.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_NODES_EXACT_PRODUCTS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_NODES_EXACT_PRODUCTS_H_

#include "frontends/onnx/graph/onnx_graph.h"

namespace tilewright {

// QuantizeLinear divides by its scale, and a vector of quotients takes as long
// as ten products. Where what it divides is made of one or two dequantized
// bytes (a sum, a product, a Relu, a Sigmoid, a concatenation of such), all that
// it can be is tried: if a float next to 1 / scale gives the same integer each
// time, a Mul by that comes before, and the scale is 1. Needs constants, not
// types: to be called before shapes are inferred.
void UseExactProducts(OnnxGraph& graph);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_NODES_EXACT_PRODUCTS_H_
