// Bands: computes that are made piece by piece along one dimension, so that
// what passes between them is never whole in memory. With this a model whose
// tensors exceed the memory of a device runs on it all the same: whole tensors
// lie on the host, and what a band reads and gives is moved (design:
// planning.md, "--level-cap"; Welder, OSDI 2023, section 3.1: tiles at the
// level of device memory).
//
// P, C -> R -> C2 become, in bands of the rows of C2:
//
//   P.in0 = the rows of P that rows [0, 8) of C2 need    role kBandIn
//   C.0, R.0, C2.0                                       those rows
//   C2.out0 = C2.0                                       role kBandOut
//   ... the next band ...
//   C2 = the C2.out behind each other; with one band, C2 is its kBandOut
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_BANDS_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_BANDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tilegraph/ir/graph_rewrite.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// Whether `tensor` is a move between whole tensors and the band.
inline bool IsBandMove(const Tensor& tensor) {
  return tensor.hint.role() == ComputeRole::kBandIn ||
         tensor.hint.role() == ComputeRole::kBandOut;
}

struct BandedPart {
  // Ascending. The last is the part's output; the others are read by members
  // only.
  std::vector<TensorId> members;
  int dim = 0;       // of the output
  int64_t rows = 1;  // of the output in one band; the last may have fewer
};

// Every value stays what it was, bit for bit. Constants are not moved: bands
// read them where they are. InvalidArgument if a part is none as described;
// Unimplemented if a region cannot be told.
absl::StatusOr<RewrittenGraph> MakeInBands(const TensorGraph& graph,
                                           absl::Span<const BandedPart> parts);

// Bytes that the bands of one part take and move.
struct BandedCost {
  int64_t moved_bytes = 0;     // into and out of bands, all of them
  int64_t band_bytes = 0;      // alive at once in the largest band
  int64_t constant_bytes = 0;  // that members read
  double points = 0;           // elements computed, repeated ones too
};
absl::StatusOr<BandedCost> CostOfBands(const TensorGraph& graph,
                                       const BandedPart& part);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_BANDS_H_
