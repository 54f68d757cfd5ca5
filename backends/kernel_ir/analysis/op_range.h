// The range of what an integer operation gives.
#ifndef TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_OP_RANGE_H_
#define TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_OP_RANGE_H_

#include "absl/types/span.h"
#include "tilegraph/expr/interval.h"
#include "tilegraph/expr/op.h"

namespace tilewright::kernel_ir {

// Of its exact result, before it wraps, for operands of these ranges; unbounded
// where nothing is known. REQUIRES: as many operands as the operation has.
Interval RangeOfOp(Op op, absl::Span<const Interval> operands);

}  // namespace tilewright::kernel_ir

#endif  // TILEWRIGHT_BACKENDS_KERNEL_IR_ANALYSIS_OP_RANGE_H_
