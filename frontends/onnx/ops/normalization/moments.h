// Statistics that normalisations share.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_NORMALIZATION_MOMENTS_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_NORMALIZATION_MOMENTS_H_

#include <vector>

#include "frontends/onnx/graph/import_context.h"
#include "frontends/onnx/graph/op_context.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// What is added to a variance, and to its root, before dividing by them.
struct Epsilon {
  double of_variance = 0;
  double of_deviation = 0;
};

// Mean and 1 / (sqrt(variance + epsilon) + epsilon) of x over the flagged
// dimensions, which they keep with extent 1.
struct Moments {
  TensorId mean;
  TensorId scale;
};

// Of `x`, which has `shape`, in `acc`.
// REQUIRES: at least one dimension is flagged.
Moments EmitMoments(ImportContext& in, TensorId x, const Shape& shape,
                    const std::vector<bool>& reduced, Epsilon epsilon,
                    DType acc);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_NORMALIZATION_MOMENTS_H_
