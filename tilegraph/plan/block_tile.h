// How the threads of a GPU's block compute a tile of a group's output: what a
// planner says and the generator of such schedules prefers, and what that has
// decided in the end (tile_plan.h).
#ifndef TILEWRIGHT_TILEGRAPH_PLAN_BLOCK_TILE_H_
#define TILEWRIGHT_TILEGRAPH_PLAN_BLOCK_TILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// How threads share the tile of one compute. Along axis d, element i belongs to
// thread (i / w) mod threads[d], w being `vector` along the last axis, `rows`
// along the one before it and 1 along the others.
struct TileDivision {
  std::vector<int64_t> threads;
  int64_t vector = 1;  // neighbours along the last axis
  int64_t lanes = 1;   // of a warp that share the terms of an element
  int64_t slices = 1;  // of the terms of a step, each with threads of its own
  int64_t rows = 1;    // neighbours along the axis before the last
};

// Tensors are those of the graph that the group is of.
struct BlockTile {
  std::vector<int64_t> tile;     // of the output
  std::vector<int64_t> threads;  // as in TileDivision, of the output
  int64_t vector = 1;
  int64_t rows = 1;
  int64_t lanes = 1;
  int64_t slices = 1;
  int64_t step = 0;     // terms of the longest reduce axis at a time; 0: all
  int64_t stages = 1;   // places for the operands of a step: buffers() in
                        // scratch, and the registers of threads, which load the
                        // next step while they compute
  bool async = false;   // all in scratch, copied asynchronously where hardware
                        // can
  int64_t swizzle = 1;  // chunks of 16 bytes that rows of operands in scratch
                        // exchange, a power of two; 1: none
  // Elements that are left free behind each row of a tensor's part in scratch;
  // rows lie along its last dimension.
  std::map<TensorId, int64_t> row_padding = {};
  // Of each compute, as a generator has decided; empty: nobody has asked.
  std::map<TensorId, TileDivision> divisions = {};

  int64_t num_threads() const {
    int64_t product = lanes * slices;
    for (const int64_t t : threads) product *= t;
    return product;
  }
  // In scratch, of each operand.
  int64_t buffers() const {
    return async || stages == 1 ? stages : stages - 1;
  }
  // "threads [8, 16], vectors of 4, steps of 16": all but the tile and what was
  // decided. Equal text and tile, equal wishes.
  std::string ToString() const;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_PLAN_BLOCK_TILE_H_
