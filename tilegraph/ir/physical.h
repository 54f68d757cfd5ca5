// Values in the memory order of a layout, and back.
#ifndef TILEWRIGHT_TILEGRAPH_IR_PHYSICAL_H_
#define TILEWRIGHT_TILEGRAPH_IR_PHYSICAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/expr/host_tensor.h"
#include "tilegraph/ir/layout.h"

namespace tilewright {

// Where the elements of a layout's shape lie. Each physical digit depends on
// one logical dimension, so an offset is a sum of one summand a dimension.
class PhysicalOffsets {
 public:
  explicit PhysicalOffsets(const Layout& layout);
  // Calls `fn(row-major position, physical offset)` for every element, in
  // row-major order.
  template <typename Function>
  void ForEach(const Function& fn) const;

 private:
  std::vector<std::vector<int64_t>> parts_;  // by dimension and index
  int64_t scalar_ = 0;  // where the one element of a tensor of rank 0 lies
};

template <typename Function>
void PhysicalOffsets::ForEach(const Function& fn) const {
  if (parts_.empty()) return fn(0, scalar_);
  const size_t last = parts_.size() - 1;
  std::vector<size_t> index(parts_.size(), 0);
  int64_t position = 0;
  for (bool more = true; more;) {
    int64_t base = 0;
    for (size_t d = 0; d < last; ++d) base += parts_[d][index[d]];
    for (const int64_t part : parts_[last]) fn(position++, base + part);
    more = false;
    for (size_t d = last; d > 0 && !more; --d) {
      more = ++index[d - 1] < parts_[d - 1].size();
      if (!more) index[d - 1] = 0;
    }
  }
}

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

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_PHYSICAL_H_
