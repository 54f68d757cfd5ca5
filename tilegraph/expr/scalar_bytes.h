// Elements of tensors and registers as they lie in memory.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_SCALAR_BYTES_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_SCALAR_BYTES_H_

#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

Scalar ReadScalar(DType dtype, const char* bytes);
// Rounds to the dtype: floats to nearest even, integers wrap.
void WriteScalar(DType dtype, Scalar value, char* bytes);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_SCALAR_BYTES_H_
