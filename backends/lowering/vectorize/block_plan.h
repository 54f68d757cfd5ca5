// How the box of an operation on memory is cut into blocks (access_cost.h).
// Internal to legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_BLOCK_PLAN_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_BLOCK_PLAN_H_

#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/tile/kernel_ranges.h"
#include "backends/lowering/vectorize/access_cost.h"
#include "backends/lowering/vectorize/vector_target.h"

namespace tilewright::lowering {

struct BlockPlan {
  OpPlan cut;   // the cheapest
  double cost;  // of an element, in vector operations
};

class BlockPlanner {
 public:
  // `kernel` and `target` outlive it.
  BlockPlanner(const kernel_ir::Kernel& kernel, const VectorTarget& target)
      : kernel_(kernel),
        target_(target),
        ranges_(kernel),
        costs_(kernel, ranges_, target) {}

  // Whether the operation only reads and writes memory, element by element.
  // Others stay as they are: the boxes of register buffers are laid out in a
  // row anyway.
  bool MapsMemory(const kernel_ir::TileOp& op) const;
  // REQUIRES: MapsMemory.
  BlockPlan Best(const kernel_ir::TileOp& op);
  // As if none of its selects' conditions kept it from reading blocks.
  BlockPlan BestOfDecided(const kernel_ir::TileOp& op);

 private:
  BlockPlan Best(const OpAccesses& accesses);

  const kernel_ir::Kernel& kernel_;
  const VectorTarget& target_;
  const KernelRanges ranges_;
  AccessCosts costs_;
};

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_BLOCK_PLAN_H_
