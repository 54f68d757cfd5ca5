// Writes one tile operation as vectors of the scalar tier. Internal to
// legalize.
#ifndef TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_EMIT_TILE_OP_H_
#define TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_EMIT_TILE_OP_H_

#include <map>
#include <utility>
#include <vector>

#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/tile_ir.h"
#include "backends/lowering/tile/kernel_ranges.h"
#include "backends/lowering/vectorize/lane_reduction.h"
#include "backends/lowering/vectorize/vector_plan.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "tilegraph/ir/intrinsics.h"

namespace tilewright::lowering {

// The value of a variable in scope while the kernel is written: a register, or
// a constant where a loop was unrolled.
struct LoopValue {
  kernel_ir::Reg reg = kernel_ir::kNoReg;
  int64_t constant = 0;
  int64_t task_extent = 0;  // set if it counts tasks
  int prefetch = -1;        // For::Hints
  int depth = 0;  // of its loop: addresses are summed outermost first, so that
                  // what does not change is outside
};

struct EmitContext {
  const kernel_ir::Kernel& kernel;
  const VectorTarget& target;
  const KernelRanges& ranges;
  const VectorPlan& plan;
  kernel_ir::ScalarBuilder& builder;
  std::vector<int>
      memory;  // tile-tier buffer -> scalar-tier buffer, -1 for registers
  std::map<std::pair<int, std::vector<int64_t>>, kernel_ir::Reg>
      variables;  // register buffer, index with dim in chunks
  std::map<int, LoopValue> loops;
  LegalizeReport report;

  // The variable of a register buffer, made when first asked for.
  kernel_ir::Reg Variable(int buffer, const std::vector<int64_t>& index);
  // A scalar over loop variables; constants where loops were unrolled.
  kernel_ir::Reg EmitScalar(const Expr& expr);
  // With the variables of unrolled loops replaced by their values, simplified.
  Expr BindLoops(const Expr& expr) const;
};

// Loops directly around an update that are emitted with it.
struct LoopsAround {
  // One that joins lanes, alone; may be null.
  const LaneReduction* joins = nullptr;
  // Unrolled ones, outermost first: their iterations are laid out together with
  // the positions of the box.
  std::vector<kernel_ir::TileAxis> taps;
  // The intrinsic that sums the terms of the one tap in a step, if operands lie
  // as it needs them; may be null.
  const DotIntrinsic* dot = nullptr;
};

void EmitTileOp(const kernel_ir::TileOp& op, EmitContext& context,
                const LoopsAround& around = {});

}  // namespace tilewright::lowering

#endif  // TILEWRIGHT_BACKENDS_LOWERING_VECTORIZE_EMIT_TILE_OP_H_
