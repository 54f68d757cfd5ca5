// Memory for peers' operands, as well placed as our own: aligned, in huge pages
// where it is large.
#ifndef TILEWRIGHT_BENCH_KERNELS_DRAWN_VALUES_H_
#define TILEWRIGHT_BENCH_KERNELS_DRAWN_VALUES_H_

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace tilewright::bench {

struct FreeValues {
  void operator()(float* values) const { std::free(values); }
};
using Values = std::unique_ptr<float[], FreeValues>;

// Uniform in [-0.5, 0.5), the same at every call.
Values DrawnValues(int64_t count);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_KERNELS_DRAWN_VALUES_H_
