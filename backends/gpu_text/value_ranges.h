#ifndef TILEWRIGHT_BACKENDS_GPU_TEXT_VALUE_RANGES_H_
#define TILEWRIGHT_BACKENDS_GPU_TEXT_VALUE_RANGES_H_

#include <vector>

#include "backends/kernel_ir/scalar_ir.h"
#include "tilegraph/expr/interval.h"

namespace tilewright::gpu_text {

// Bounds the values of integer registers, as far as they follow from the number
// of tasks, loop bounds, constants and dtypes: index arithmetic that provably
// does not overflow is written with C++'s own operators. Variables are unknown.
class ValueRanges {
 public:
  explicit ValueRanges(const kernel_ir::ScalarKernel& kernel);

  // Unbounded where nothing is known.
  const Interval& of(kernel_ir::Reg reg) const { return ranges_[reg]; }
  // The range of an operation's exact result, before it wraps.
  Interval Exact(const kernel_ir::OpInst& op) const;
  // Whether all of `range` are values of an integer dtype.
  static bool Fits(const Interval& range, DType dtype);

 private:
  void Walk(const std::vector<kernel_ir::Inst>& body);

  const kernel_ir::ScalarKernel& kernel_;
  std::vector<Interval> ranges_;
};

}  // namespace tilewright::gpu_text

#endif  // TILEWRIGHT_BACKENDS_GPU_TEXT_VALUE_RANGES_H_
