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

// How a block computes a step and loads the next one, where blocks are known to
// wait for loads (GpuCost::wait_seconds). One alone on its core has two stages:
// a thread loads the next step's operands into registers meanwhile; of shorter
// steps, if registers take those. Threads of products whose elements are
// squares of 4 x 4 have rows in fours, so that what a multiply-add reads comes
// in loads of 16 bytes and lies in other banks of the register file; then
// blocks beside each other have steps of 8 and a second buffer beside the
// registers, if a core has as many of them with that: threads wait for each
// other once a step. Measured on an H100 and an H200
// (docs/results/gpu_profiles.md, gpu_models.md).
void LoadAhead(const GpuTilePlan& plan, const ComputeUnit& unit,
               BlockTile& block);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_PLANNED_BLOCK_H_
