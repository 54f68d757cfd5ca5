// Which computes of a model run in bands where device memory is capped, and in
// how large ones: the outermost level of the tile-graph, with whole tensors on
// the host (Welder, OSDI 2023, section 3.1; design: planning.md,
// "--level-cap").
#ifndef TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_CHOOSE_BANDS_H_
#define TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_CHOOSE_BANDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/rewrite/bands/bands.h"

namespace tilewright {

struct BandOptions {
  // Most bytes alive on the device at once, constants not counted.
  int64_t cap_bytes = 0;
  // Computes in one part.
  int most_members = 24;
  // Reductions in one part; 1: operator by operator.
  int most_reductions = 24;
  // Elements computed, over those there are: halos are computed by both
  // neighbours.
  double most_recompute = 2;
};

struct BandPlan {
  std::vector<BandedPart> parts;  // every compute is in one
  int64_t moved_bytes = 0;        // by all of them
};

// The parts, runs of computes as the graph lists them, that move the fewest
// bytes between host and device. ResourceExhausted names the compute of which
// not even the smallest band fits.
absl::StatusOr<BandPlan> ChooseBands(const TensorGraph& graph,
                                     const BandOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_REWRITE_BANDS_CHOOSE_BANDS_H_
