// Compares one output of a kernel with the reference.
#ifndef TILEWRIGHT_TILEGRAPH_REFERENCE_VERIFY_OUTPUT_H_
#define TILEWRIGHT_TILEGRAPH_REFERENCE_VERIFY_OUTPUT_H_

#include <string>

#include "tilegraph/ir/layout.h"
#include "tilegraph/reference/reference.h"

namespace tilewright {

struct OutputVerdict {
  std::string reason;        // empty: right
  double largest_error = 0;  // in units of the bound, of the elements verified
};

// `data`: the physical bytes. `bound_factor`: how many bounds an element may
// err by. Exact elements (bound zero) must match bit for bit, NaN equals NaN;
// with `zero_signs_free`, -0 equals 0. Elements of infinite bounds may be
// anything: unbounded_share.h counts them. `underflow`: what floats, exact ones
// too, may be off by beyond their bounds where denormals were flushed.
OutputVerdict VerifyOutput(const ReferenceView& expected, const Layout& layout,
                           const char* data, double bound_factor,
                           bool zero_signs_free, double underflow = 0);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REFERENCE_VERIFY_OUTPUT_H_
