// The boxes of tensors that one band of a part computes and reads. Internal to
// bands.
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_BAND_BOXES_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_BAND_BOXES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/rewrite/bands/bands.h"

namespace tilewright {

// Elements [begin, begin + extent) of every dimension.
struct Box {
  std::vector<int64_t> begin, extent;

  int64_t elements() const {
    int64_t count = 1;
    for (const int64_t e : extent) count *= e;
    return count;
  }
};

// InvalidArgument if `part` is none (bands.h).
absl::Status CheckPart(const TensorGraph& graph, const BandedPart& part,
                       const std::vector<std::vector<TensorId>>& consumers);

// For the band that begins at `row` of the output. By tensor: members, and what
// they read that is no member. Whole boxes, also where a reader skips elements:
// what is computed there must find its operands.
absl::StatusOr<std::map<TensorId, Box>> BoxesOf(const TensorGraph& graph,
                                                const BandedPart& part,
                                                int64_t row);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_BAND_BOXES_H_
