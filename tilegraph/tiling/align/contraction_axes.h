// Products of matrices in disguise: which axes of a compute are rows, columns
// and terms of the product that a matrix unit computes.
#ifndef TILEWRIGHT_TILEGRAPH_TILING_ALIGN_CONTRACTION_AXES_H_
#define TILEWRIGHT_TILEGRAPH_TILING_ALIGN_CONTRACTION_AXES_H_

#include <optional>
#include <vector>

#include "tilegraph/tensor_graph.h"

namespace tilewright {

struct ContractionAxes {
  Expr a, b;                      // the two loads
  DType dtype = DType::kFloat32;  // of both operands
  // Axes of the output that move only `a` (rows), only `b` (columns), or both
  // (one product each).
  std::vector<int> rows, columns, batch;
};

// A sum of products of one element of each of two operands of one dtype, which
// may be cast, or replaced by zero outside their tensor. Every reduce axis
// moves both (an implicit GEMM gathers what a window covers), and there are
// rows and columns. nullopt otherwise, e.g. for depthwise convolutions.
std::optional<ContractionAxes> AsContraction(const TensorGraph& graph,
                                             TensorId id);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_TILING_ALIGN_CONTRACTION_AXES_H_
