// Host tensors of a size that a model or a file decides.
#ifndef TILEWRIGHT_TILEGRAPH_EXPR_NEW_TENSOR_H_
#define TILEWRIGHT_TILEGRAPH_EXPR_NEW_TENSOR_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/expr/host_tensor.h"

namespace tilewright {

// All zeros. InvalidArgument if an extent is negative or there are 2^63 bytes
// or more, ResourceExhausted if the memory cannot be had; both say what for:
// `what`, "input 'x'".
absl::StatusOr<HostTensor> NewTensor(DType dtype, std::vector<int64_t> shape,
                                     std::string_view what);

// The same for rewrites, which have no status to return: their callers' border
// (CatchExceptions of base/allocation.h) makes it one. Throws AllocationError
// with that message. REQUIRES: the shape has a size.
HostTensor NewTensorOrThrow(DType dtype, std::vector<int64_t> shape,
                            std::string_view what);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_EXPR_NEW_TENSOR_H_
