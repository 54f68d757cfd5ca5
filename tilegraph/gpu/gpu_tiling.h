// SubGraphTiling (Welder, figure 7) for one kernel of a GPU: the tile of a
// block, searched from one element (search_tiles.h), with the
// threads, steps, buffers and instructions that serve it best.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_GPU_TILING_H_
#define TILEWRIGHT_TILEGRAPH_GPU_GPU_TILING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "tilegraph/gpu/gpu_tile_evaluator.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {

struct GpuTilingOptions {
  int best = 4;  // plans returned, and as many with slices of all terms
  // Tiles looked at; so many in a row that are no better end the search.
  int visits = 1000, patience = 128;
  GpuFeatures use;  // of the device
};

// Sizes of tiles along a dimension: powers of two, divisors, the whole.
std::vector<int64_t> GpuTileSizes(int64_t extent);

// Tiles are of the last of part.outputs; the others are side outputs
// (tilegraph/plan/plan.h): a block writes its tile of them too.
//
// Best first, at least one; every plan fits into registers, scratchpad and
// threads and writes no element twice. Deterministic. InvalidArgument if the
// spec is of no GPU, ResourceExhausted if not even one element fits,
// FailedPrecondition if no tiles of side outputs that fit lie side by side,
// errors as of TileWorks. Plans point into `spec`, which must outlive them.
absl::StatusOr<std::vector<GpuTilePlan>> TileForGpu(
    const TileGraph& graph, const Subgraph& part, const DeviceSpec& spec,
    const GpuTilingOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_GPU_TILING_H_
