#include "tilegraph/expr/new_tensor.h"

#include <new>
#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/allocation.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/string_view.h"

namespace tilewright {

absl::StatusOr<HostTensor> NewTensor(DType dtype, std::vector<int64_t> shape,
                                     std::string_view what) {
  int64_t bytes = SizeBytes(dtype);
  for (const int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
      return absl::InvalidArgumentError(absl::StrCat(
          ToAbsl(what), " has shape [", absl::StrJoin(shape, ", "),
          "], which has a negative extent or 2^63 bytes or more; fix the "
          "shape"));
    }
  }
  TW_RETURN_IF_ERROR(CheckMemory(bytes, what));
  try {
    return HostTensor(dtype, std::move(shape));
  } catch (const std::bad_alloc&) {
    return CannotAllocate(bytes, what);
  } catch (const std::length_error&) {
    return CannotAllocate(bytes, what);
  }
}

HostTensor NewTensorOrThrow(DType dtype, std::vector<int64_t> shape,
                            std::string_view what) {
  absl::StatusOr<HostTensor> tensor = NewTensor(dtype, std::move(shape), what);
  if (tensor.ok()) return *std::move(tensor);
  TW_CHECK(absl::IsResourceExhausted(tensor.status())) << tensor.status();
  throw AllocationError(tensor.status());
}

}  // namespace tilewright
