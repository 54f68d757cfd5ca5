// How a GPU computes one part of a tile-graph: the grid, the tile of a block,
// its threads and what each of them computes, the scratchpad with its paddings
// and swizzles, matrix instructions, and what that is predicted to cost.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_GPU_TILE_PLAN_H_
#define TILEWRIGHT_TILEGRAPH_GPU_GPU_TILE_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilegraph/gpu/block_remap.h"
#include "tilegraph/gpu/gpu_part.h"
#include "tilegraph/gpu/hardware/bank_layout.h"
#include "tilegraph/gpu/hardware/block_order.h"
#include "tilegraph/gpu/hardware/gpu_levels.h"
#include "tilegraph/gpu/hardware/matrix_forms.h"
#include "tilegraph/gpu/hardware/occupancy.h"
#include "tilegraph/gpu/hardware/thread_tile.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/block_tile.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright {

// A tile in the scratchpad.
struct SharedOperand {
  TensorId tensor = 0;
  std::vector<int64_t> extents;  // of one step
  int row_dims = 1;              // dimensions, the last ones, that make a row
  BankLayout layout;             // of its rows
  int64_t copies = 1;            // 2: one is filled while the other is used
  int64_t slices = 1;            // of partial sums, which lie behind each other
  int64_t offset_bytes = 0;
  int64_t bytes = 0;     // of all copies and slices
  double conflicts = 1;  // turns of the banks over the least there could be
};

// Computes that share one division among the threads.
struct ClusterTile {
  // In threads, unless matrix units compute its root.
  ThreadTile simt;
  std::optional<MatrixForm> matrix;  // points into the spec
};

// What the accesses to a tensor move, by all blocks.
struct GpuTraffic {
  TensorId tensor = 0;
  bool shared = false;  // through the banks, else from or to the cores
  double bytes = 0;
};

// Predicted work of all blocks on the whole device.
struct GpuCost {
  double operations = 0;    // idle lanes and padded fragments included
  double memory_bytes = 0;  // from and to memory, with what is found nearer
  double near_bytes = 0;    // from and to the cores
  // Through the banks; of a generated plan also from and to memory, which takes
  // the same path.
  double shared_bytes = 0;
  // The last two tensor by tensor, a tensor any number of times.
  std::vector<GpuTraffic> traffic;
  // Of a generated plan, by tensor, what its warps ask for (generated_block.h).
  // Turns and lines are what shared_bytes are made of; an L1 serves what is
  // asked for again, so that near_bytes are fewer than those of the sectors.
  std::map<TensorId, double> requested_sectors, requested_turns;
  double requested_lines = 0, warp_instructions = 0;
  int64_t waves = 1;
  int64_t blocks_at_once = 1;  // on all cores, resident
  int64_t steps = 1;           // of a block, of the compute that has most
  // Each with its quantisation; what takes longest counts, all where a core has
  // neither a second block nor a second buffer. `near`: from what is next to
  // the cores.
  double compute_seconds = 0, shared_seconds = 0, near_seconds = 0,
         memory_seconds = 0;
  double busy_compute_seconds = 0;  // of compute_seconds, with all cores busy
  bool overlaps = true;     // a second block or buffer: else parts add up
  double work_seconds = 0;  // of these together
  double wait_seconds = 0;  // of blocks for what they load, step by step
  double sync_seconds = 0;  // barriers of blocks
  double seconds = 0;       // with the launch
};

// Something that came out otherwise than it was planned.
struct GpuDifference {
  enum class Kind {
    kThreads,    // of a block
    kNotStaged,  // an operand is read where it lies
    kShared,     // a result is shared that was planned in registers
    kBytes,      // of a tensor in the scratchpad
    kPlacement,  // of the scratchpad: tensors share other parts of it
  };
  Kind kind = Kind::kThreads;
  TensorId tensor = -1;  // of the second to fourth
  int64_t planned = 0, generated = 0;
};
// "128 threads were planned and 64 have elements".
std::string ToString(const TensorGraph& graph, const GpuDifference& difference);

struct GpuTilePlan {
  Subgraph part;
  GpuLevels levels;           // point into the spec
  std::vector<int64_t> tile;  // of the last output
  std::vector<int64_t> grid;  // blocks along each dimension
  BlockOrder order;
  int64_t step = 0;     // along stepped axes; 0: whole
  int64_t threads = 0;  // of a block
  GpuPart members;
  std::vector<ClusterTile> clusters;  // as members.clusters
  // By member: which of its tiles a block computes; none where tiles lie at no
  // multiples of an index.
  std::vector<std::optional<BlockRemap>> remaps;
  std::vector<SharedOperand> shared;
  int64_t shared_bytes = 0;          // of a block
  int64_t registers_per_thread = 0;  // estimate
  Occupancy occupancy;
  GpuCost cost;
  // The wishes for the generator of its schedule; none for matrix units.
  std::optional<BlockTile> block;
  // Whether threads, scratchpad and cost are those of the schedule that came of
  // them, not as planned, and where those differ.
  bool generated = false;
  std::vector<GpuDifference> differences;

  int64_t blocks() const;
  // That a core has at the same time, of so many.
  int64_t blocks_beside(int64_t cores) const;
};

// What differs between a planned tile and what was generated of it.
std::vector<GpuDifference> Differences(const GpuTilePlan& planned,
                                       const GpuTilePlan& generated);

// The limit that keeps a kernel from being faster.
struct GpuLimit {
  enum class Kind {
    kLaunch,     // and barriers
    kOccupancy,  // less than half of a rate is reached: too little in flight
    kPeak,
    kBandwidth
  };
  Kind kind = Kind::kLaunch;
  // "launch", "peak"; of bandwidth the level; of occupancy what keeps more
  // blocks from being resident, "grid" where there are no more.
  std::string name;
  double seconds = 0;  // that it accounts for
  double reached = 1;  // share of the peak or bandwidth
};
GpuLimit LimitOf(const GpuTilePlan& plan);
// "l2 bandwidth", "occupancy by registers", "peak".
std::string ShortText(const GpuLimit& limit);
// "l2 bandwidth (12.1 of 16.4 us, at 80 %)".
std::string ToString(const GpuTilePlan& plan, const GpuLimit& limit);

// A read of what some compute makes: at which level of memory it passes to its
// reader, a member of this kernel.
struct LevelOfEdge {
  TensorId tensor = 0, reader = 0;
  const MemoryLevel* level = nullptr;
};
// Registers where the reader's thread has the element, the scratchpad for what
// else the kernel makes itself; of other kernels' results where they lie
// between kernels. In the order of the members.
std::vector<LevelOfEdge> LevelsOfEdges(const TensorGraph& graph,
                                       const GpuTilePlan& plan);

// For people; a line each for the grid, clusters, scratchpad and cost.
std::string ToString(const TensorGraph& graph, const GpuTilePlan& plan);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_GPU_TILE_PLAN_H_
