// Loops that only join the elements of a register buffer along one dimension,
// as the second stage of a factored reduction does: where that dimension lies
// in vectors, whole vectors are joined and then their halves, in a fixed order,
// instead of one lane after the other. Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_LANE_REDUCTION_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_LANE_REDUCTION_H_

#include <optional>

#include "backends/kernel_ir/tile_ir.h"

namespace tilewright::lowering {

// for var: dst ∘= (P0[.., var, ..], P1[.., var, ..], ...): `var` runs along all
// of dimension `dim` of register buffers of one shape, and dst does not move
// with it.
struct LaneReduction {
  const kernel_ir::TileOp* op;
  int var;
  int dim;
};

// `loop` as one, whether or not its buffers become vectors along `dim`.
std::optional<LaneReduction> AsLaneReduction(const kernel_ir::Kernel& kernel,
                                             const kernel_ir::For& loop);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_LANE_REDUCTION_H_
