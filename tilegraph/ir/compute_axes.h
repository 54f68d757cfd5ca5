// The axes of a compute by their ordinals: spatial ones first, then those that
// are reduced, as its body has them.
#ifndef TILEWRIGHT_TILEGRAPH_IR_COMPUTE_AXES_H_
#define TILEWRIGHT_TILEGRAPH_IR_COMPUTE_AXES_H_

#include <cstddef>
#include <string>

#include "tilegraph/expr/simplify.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// REQUIRES: the compute has so many.
const Axis& AxisAt(const Compute& compute, size_t ordinal);

// Their ranges; the compute must outlive the result. REQUIRES: no symbols.
RangeOf AxisRanges(const Compute& compute);

// `wanted`, or something longer that no axis is called.
std::string NewAxisName(const Compute& compute, std::string wanted);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_IR_COMPUTE_AXES_H_
