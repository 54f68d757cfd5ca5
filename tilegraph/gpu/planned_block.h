// From a planned tile of a GPU to the wishes for a generator of schedules in
// blocks of threads: what both know.
//
// A generator has one division of the output's tile among the threads, and its
// own rules for computes with tiles of another shape; it pads rows along a
// tensor's last dimension.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_PLANNED_BLOCK_H_
#define TILEWRIGHT_TILEGRAPH_GPU_PLANNED_BLOCK_H_

#include <optional>

#include "backends/spec/device_spec.pb.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/plan/block_tile.h"

namespace tilewright {

// The threads, vectors and lanes of the last output's cluster. Left out are
// second buffers, swizzles, the order of blocks, and paddings of rows that are
// several dimensions. Lanes are those of a warp of 32. nullopt where matrix
// units compute the output.
std::optional<BlockTile> PlannedBlock(const GpuTilePlan& plan);

// Two stages where a core has one block at a time, so that none works while
// another waits, and its threads have the registers for what they load of the
// next step during this one; shorter steps, if it takes those. Nothing where
// nobody knows how long blocks wait for loads (GpuCost::wait_seconds). On an
// H200 that took 15 % off products of 128 rows, and off convolutions of one
// image nothing or 6 %; products of two blocks a core take 8 % longer
// (docs/results/gpu_profiles.md).
void LoadAhead(const GpuTilePlan& plan, const ComputeUnit& unit,
               BlockTile& block);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_PLANNED_BLOCK_H_
