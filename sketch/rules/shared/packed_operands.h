// Constant operands of a contraction laid out as its loops read them, where
// terms are summed in groups the groups side by side.
//
//   pack.b        of those that vary along the vector axis:
//                 panels   as wide as register tiles, one after the other
//                 blocks   panels of one block of terms, then of the next
//                 plain    as they are, if that gives whole vectors
//   pack.b.width  register tiles that lie side by side in one panel
//   pack.a        of the others that vary along the row axis: plain, or panels
//                 of a tile's rows
//
// None changes bits.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_PACKED_OPERANDS_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_PACKED_OPERANDS_H_

#include "absl/types/span.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/rules/shared/reduce_loops.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {

// Sets the layouts of the constants. `body`: of the reduction, its prologue
// inlined.
void PackConstants(ScheduleWriter& writer, Decider& decider,
                   const Workload& workload, const Tensor& reduction,
                   absl::Span<const Expr> body, const OutputTiles& tiles,
                   const ReduceLoops& loops);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_PACKED_OPERANDS_H_
