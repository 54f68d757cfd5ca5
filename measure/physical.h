// Internal to the verifier: values in the memory order of a layout, and back.
#ifndef TILEWRIGHT_MEASURE_PHYSICAL_H_
#define TILEWRIGHT_MEASURE_PHYSICAL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/host_tensor.h"
#include "tilegraph/layout.h"

namespace tilewright::measure {

// Where the elements of a layout's shape lie. Each physical digit depends on
// one logical dimension, so an offset is a sum of one summand a dimension.
class PhysicalOffsets {
 public:
  explicit PhysicalOffsets(const Layout& layout);
  // Calls `fn(row-major position, physical offset)` for every element, in
  // row-major order.
  void ForEach(const std::function<void(int64_t, int64_t)>& fn) const;

 private:
  std::vector<std::vector<int64_t>> parts_;  // by dimension and index
  int64_t scalar_ = 0;  // where the one element of a tensor of rank 0 lies
};

// Every float NaN, every integer a value nobody computes: what memory holds
// that must not be read.
void FillUndefined(DType dtype, char* data, int64_t size_bytes);
// The bytes of a buffer with these values; padding is zero where the layout
// says so, undefined elsewhere.
void FillPhysical(const Layout& layout, const HostTensor& values, char* data);
// The bytes of a buffer that is about to be written: undefined, padding zero
// where the layout says so.
void FillUnwritten(const Layout& layout, DType dtype, char* data);
// Position of the first byte of padding that should be zero and is not; -1 if
// there is none.
int64_t FirstNonZeroPadding(const Layout& layout, DType dtype,
                            const char* data);

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_PHYSICAL_H_
