// A step of a tile as every decision about threads, slices and buffers finds
// it; internal to the evaluator.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_TILE_STEP_H_
#define TILEWRIGHT_TILEGRAPH_GPU_TILE_STEP_H_

#include <cstdint>
#include <vector>

#include "tilegraph/gpu/gpu_part.h"
#include "tilegraph/gpu/hardware/thread_tile.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/traffic/tile_work.h"

namespace tilewright {

struct TileStep {
  struct Member {
    std::vector<int64_t> axes;  // extents in one step, spatial axes first
    int64_t steps = 1;
    ThreadWork threads;  // of one step
  };
  // What is loaded into the scratchpad.
  struct Input {
    std::vector<int64_t> extents;  // in one step
    int64_t steps = 1;
  };
  std::vector<Member> members;  // as GpuPart::members
  std::vector<Input> inputs;    // as GpuPart::inputs
};

// With `step` terms of stepped axes at a time; 0: all.
TileStep StepOf(const TensorGraph& graph, const GpuPart& part,
                const TileWork& work, int64_t step, int64_t sector_bytes);

// The tile of a member, whether it stays inside or leaves.
const TileOperand& TileOf(const TileWork& work, TensorId member);

// The number of elements of a box.
inline int64_t Product(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  return product;
}

// Over some of its axes.
inline int64_t Covered(const std::vector<int64_t>& extents,
                       const std::vector<int>& axes) {
  int64_t product = 1;
  for (const int axis : axes) product *= extents[axis];
  return product;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_TILE_STEP_H_
