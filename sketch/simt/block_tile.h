// The tile of a block (tilegraph/plan/block_tile.h) as a decision of the
// generator of schedules in threads, and what it prefers without a planner.
#ifndef TILEWRIGHT_SKETCH_SIMT_BLOCK_TILE_H_
#define TILEWRIGHT_SKETCH_SIMT_BLOCK_TILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/plan/block_tile.h"

namespace tilewright::sketch {

using tilewright::BlockTile;

// 256 threads at most, of up to eight elements along each of the last two axes
// if terms are summed, else of four along the last. `terms`: of the longest
// reduce axis; 1 if nothing is reduced.
BlockTile DefaultBlockTile(const std::vector<int64_t>& extents, int64_t terms);

// Asks for tile and threads along each axis of the output, vectors, lanes and,
// if terms are summed, rows, steps, stages, async and swizzle (names as in
// simt_schedule.h). InvalidArgument if that makes more threads than a block may
// have, or `preferred` is for an output of another rank.
absl::StatusOr<BlockTile> DecideBlockTile(const std::vector<std::string>& axes,
                                          const std::vector<int64_t>& shape,
                                          int64_t terms,
                                          const BlockTile& preferred,
                                          Decider& decider);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_BLOCK_TILE_H_
