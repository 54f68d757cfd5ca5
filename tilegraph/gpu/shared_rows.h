// How the warps of a plan touch a tile in the scratchpad: what its layout is
// chosen for.
#ifndef TILEWRIGHT_TILEGRAPH_GPU_SHARED_ROWS_H_
#define TILEWRIGHT_TILEGRAPH_GPU_SHARED_ROWS_H_

#include <cstdint>
#include <vector>

#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/gpu/hardware/bank_layout.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright {

// How many dimensions, the last ones, make a row: the last, and those before it
// along which its readers only sum (the channels and window of a weight).
int RowDims(const TensorGraph& graph, const GpuPart& part, TensorId tensor);

TileRows RowsOf(const TensorGraph& graph, const SharedOperand& operand);

// Elements that should stay together in a row: 16 bytes where matrix units read
// it, else the longest vector that a thread reads of it.
int64_t ChunkElements(const TensorGraph& graph, const GpuTilePlan& plan,
                      TensorId tensor);

// The first access of warp 0 by every reader of the tensor in `plan`: matrix
// units take rows of 16 bytes, threads what their first element needs. Readers
// by an index that is not affine are left out.
std::vector<RowAccess> AccessesOf(const TensorGraph& graph,
                                  const GpuTilePlan& plan,
                                  const SharedOperand& operand,
                                  int64_t warp_size);

}  // namespace tilewright

#endif  // TILEWRIGHT_TILEGRAPH_GPU_SHARED_ROWS_H_
