// What a generator of schedules made of a planned block: what really runs. The
// planner takes it over and costs it once more (gpu_cost_model.h); it is never
// the other way round.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_GENERATED_BLOCK_H_
#define TILEWRIGHT_TILEGRAPH_GPU_GENERATED_BLOCK_H_

#include <cstdint>
#include <functional>
#include <map>

#include "absl/status/statusor.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/plan/block_tile.h"
#include "tilegraph/plan/plan.h"

namespace tilewright {

struct GeneratedBlock {
  BlockTile tile;            // as decided
  int64_t threads = 0;       // of a block
  int64_t shared_bytes = 0;  // of a block
  // Tensors, parts of which a block keeps in the scratchpad, and their bytes.
  std::map<TensorId, int64_t> shared;
  // Of 32 bits, that the values of a thread need at the same time, and with
  // loads that could be moved ahead; 0: not known, as planned.
  int64_t live_registers = 0, registers_with_loads = 0;
  // What warps ask for: by tensor in memory its sectors, by tensor in the
  // scratchpad the turns of the banks. Empty: not known, as planned.
  std::map<TensorId, double> requested_sectors, requested_turns;
  // Of all blocks: lines of memory that they ask for, as long as a row of the
  // banks, and instructions that they issue; 0: not known.
  double requested_lines = 0, warp_instructions = 0;
};

// Makes a kernel of a group whose tile plan has a block; an error says why
// there is none. Injected by who knows generators: the planner knows none.
using GenerateBlock =
    std::function<absl::StatusOr<GeneratedBlock>(const Group&, const Plan&)>;

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_GENERATED_BLOCK_H_
