// From a replayed schedule to the tile tier. Nothing else produces the tile
// tier.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_TILE_LOWER_H_
#define TILEWRIGHT_BACKENDS_LOWERING_TILE_LOWER_H_

#include <string>

#include "absl/status/statusor.h"
#include "backends/kernel_ir/tile_ir.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::lowering {

// The passes, in order: build (loops, tile operations, init placed right before
// the outermost reduce loop; buffer origins subtracted; reductions with empty
// axes give the identity), simplify under loop ranges, widen sums of threads
// (widen_sums.h), partition tails
// (interior tiles lose their predicates, edge tiles become smaller boxes; task
// loops get an If instead of a split), drop what is never executed, begin sums
// in registers whole (whole_inits.h), verify.
absl::StatusOr<kernel_ir::Kernel> Lower(const sketch::BlockTree& tree,
                                        std::string name);

// Each pass alone; all keep what the interpreter computes.
absl::StatusOr<kernel_ir::Kernel> BuildTileKernel(const sketch::BlockTree& tree,
                                                  std::string name);
void SimplifyTileKernel(kernel_ir::Kernel& kernel);
// `max_statements` bounds the growth: loops whose partition would exceed it
// keep their predicates.
void PartitionTails(kernel_ir::Kernel& kernel, int max_statements = 400);

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_TILE_LOWER_H_
