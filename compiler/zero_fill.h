// The zero halo of a padded layout as a few strided fills.
#ifndef TILEWRIGHT_COMPILER_ZERO_FILL_H_
#define TILEWRIGHT_COMPILER_ZERO_FILL_H_

#include <vector>

#include "runtime/format/program.pb.h"
#include "tilegraph/ir/layout.h"

namespace tilewright {

// Together they set every byte of the physical buffer that holds no logical
// element to zero, and no other. Empty if the layout has no padding or does not
// promise zeros. `to` is left for the caller except for its offset.
std::vector<Zero> ZeroFills(const Layout& layout, int64_t element_bytes);

}  // namespace tilewright

#endif  // TILEWRIGHT_COMPILER_ZERO_FILL_H_
