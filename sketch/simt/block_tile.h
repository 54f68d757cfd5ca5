// How the threads of a block compute a tile of a group's output: what a plan
// for a GPU says, and what the generator of such schedules prefers.
#ifndef TILEWRIGHT_SKETCH_SIMT_BLOCK_TILE_H_
#define TILEWRIGHT_SKETCH_SIMT_BLOCK_TILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright::sketch {

// Along axis d of the output, element i of a tile belongs to thread (i / w) mod
// threads[d], w being `vector` along the last axis and 1 along the others
// (tilegraph/gpu/thread_tile.h).
struct BlockTile {
  std::vector<int64_t> tile;     // of the output
  std::vector<int64_t> threads;  // along each axis
  int64_t vector = 1;            // neighbours along the last axis
  int64_t lanes = 1;             // of a warp that share the terms of an element
  int64_t step = 0;  // terms of the longest reduce axis at a time; 0: all
  int64_t stages = 1;   // 2: a step's operands are loaded while the step before
                        // computes
  int64_t swizzle = 1;  // chunks of 16 bytes that rows of operands in scratch
                        // exchange, a power of two; 1: none
  // Elements that are left free behind each row of a tensor's part in scratch,
  // by tensor; rows lie along its last dimension.
  std::map<std::string, int64_t> row_padding = {};

  int64_t num_threads() const {
    int64_t product = lanes;
    for (const int64_t t : threads) product *= t;
    return product;
  }
};

// A tile without a plan: 256 threads at most, of up to eight elements along
// each of the last two axes if terms are summed, else of four along the last.
// `terms`: of the longest reduce axis; 1 if nothing is reduced.
BlockTile DefaultBlockTile(const std::vector<int64_t>& extents, int64_t terms);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_SIMT_BLOCK_TILE_H_
