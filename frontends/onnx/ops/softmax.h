// Softmax of a tensor, for the operators that have one inside.
#ifndef TILEWRIGHT_FRONTENDS_ONNX_OPS_SOFTMAX_H_
#define TILEWRIGHT_FRONTENDS_ONNX_OPS_SOFTMAX_H_

#include <string>
#include <vector>

#include "frontends/onnx/graph/import_context.h"

namespace tilewright {

// `name`: exp(x - max) over its sum along the flagged dimensions of `x`, whose
// shape it has, computed in `acc` and kept in `dtype`. The computes before it
// are named for output 0.
TensorId EmitSoftmax(ImportContext& in, std::string name, DType dtype,
                     TensorId x, const std::vector<bool>& reduced, DType acc);

}  // namespace tilewright

#endif  // TILEWRIGHT_FRONTENDS_ONNX_OPS_SOFTMAX_H_
