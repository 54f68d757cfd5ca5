#include "tilegraph/ir/physical.h"

#include <algorithm>
#include <cstring>

namespace tilewright {

PhysicalOffsets::PhysicalOffsets(const Layout& layout) {
  const std::vector<int64_t>& shape = layout.shape();
  std::vector<int64_t> index(shape.size(), 0);
  const int64_t origin = layout.Offset(absl::MakeConstSpan(index));
  if (shape.empty()) scalar_ = origin;
  parts_.resize(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    for (index[d] = 0; index[d] < shape[d]; ++index[d]) {
      // The first dimension carries the origin, so that offsets are sums.
      parts_[d].push_back(layout.Offset(absl::MakeConstSpan(index)) -
                          (d == 0 ? 0 : origin));
    }
    index[d] = 0;
  }
}

void FillUndefined(DType dtype, char* data, int64_t size_bytes) {
  // All bits set is NaN in every float type. For integers, an unlikely value
  // that is not -1.
  std::memset(data, IsFloat(dtype) ? 0xFF : 0x5B,
              static_cast<size_t>(size_bytes));
  if (dtype == DType::kBool)
    std::memset(data, 1, static_cast<size_t>(size_bytes));
}

void FillPhysical(const Layout& layout, const HostTensor& values, char* data) {
  const int64_t size = SizeBytes(values.dtype());
  const int64_t total = layout.physical_elements() * size;
  if (layout.fill() == Layout::Fill::kZero) {
    std::memset(data, 0, static_cast<size_t>(total));
  } else {
    FillUndefined(values.dtype(), data, total);
  }
  const char* const from = values.data();
  PhysicalOffsets(layout).ForEach([&](int64_t position, int64_t offset) {
    std::memcpy(data + offset * size, from + position * size,
                static_cast<size_t>(size));
  });
}

void FillUnwritten(const Layout& layout, DType dtype, char* data) {
  const int64_t size = SizeBytes(dtype);
  const int64_t total = layout.physical_elements() * size;
  if (layout.fill() != Layout::Fill::kZero)
    return FillUndefined(dtype, data, total);
  std::memset(data, 0, static_cast<size_t>(total));
  PhysicalOffsets(layout).ForEach([&](int64_t, int64_t offset) {
    FillUndefined(dtype, data + offset * size, size);
  });
}

int64_t FirstNonZeroPadding(const Layout& layout, DType dtype,
                            const char* data) {
  if (layout.fill() != Layout::Fill::kZero) return -1;
  const int64_t size = SizeBytes(dtype);
  std::vector<char> is_padding(static_cast<size_t>(layout.physical_elements()),
                               1);
  PhysicalOffsets(layout).ForEach(
      [&](int64_t, int64_t offset) { is_padding[offset] = 0; });
  for (int64_t at = 0; at < layout.physical_elements(); ++at) {
    if (!is_padding[at]) continue;
    for (int64_t byte = at * size; byte < (at + 1) * size; ++byte) {
      if (data[byte] != 0) return byte;
    }
  }
  return -1;
}

}  // namespace tilewright
