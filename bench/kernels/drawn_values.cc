#include "bench/kernels/drawn_values.h"

#include <sys/mman.h>

#include "base/check.h"
#include "base/random.h"

namespace tilewright::bench {

Values DrawnValues(int64_t count) {
  constexpr size_t kHugePageBytes = size_t{2} << 20;
  const size_t wanted = static_cast<size_t>(count) * sizeof(float);
  const size_t alignment = wanted >= kHugePageBytes ? kHugePageBytes : 64;
  const size_t bytes = (wanted + alignment - 1) / alignment * alignment;
  Values values(static_cast<float*>(std::aligned_alloc(alignment, bytes)));
  TW_CHECK(values != nullptr);
  if (alignment == kHugePageBytes) madvise(values.get(), bytes, MADV_HUGEPAGE);
  Random random(1);
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(random.Uniform(-0.5, 0.5));
  return values;
}

}  // namespace tilewright::bench
