// A box of elements from one layout to another as plain copies of memory:
// nested loops around one run. What moves between host and device is such a
// copy.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_BOX_COPY_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_BOX_COPY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tilegraph/ir/layout.h"

namespace tilewright {

// All in elements.
struct BoxCopy {
  struct Repeat {
    int64_t count;
    int64_t from_stride, to_stride;
  };
  int64_t from_offset = 0, to_offset = 0;
  int64_t run = 1;              // side by side in both
  std::vector<Repeat> repeats;  // outermost first

  int64_t elements() const;
};

// Element from_begin + i of the one is element i of the other, for all i of
// `to`. nullopt if the digits of the layouts differ, or if blocks would be torn
// apart. Padded lanes of blocks are copied along; halos are not.
std::optional<BoxCopy> CopyOfBox(const Layout& from,
                                 absl::Span<const int64_t> from_begin,
                                 const Layout& to);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_BOX_COPY_H_
