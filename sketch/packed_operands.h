// Operands of a contraction laid out as its loops read them: panels as wide as
// the register tile, along the vector axis side by side; where terms are summed
// in groups, the groups side by side.
#ifndef TILEWRIGHT_SKETCH_PACKED_OPERANDS_H_
#define TILEWRIGHT_SKETCH_PACKED_OPERANDS_H_

#include "absl/types/span.h"
#include "sketch/output_tiles.h"
#include "sketch/reduce_loops.h"
#include "sketch/schedule.h"
#include "tilegraph/expr.h"
#include "tilegraph/tensor_graph.h"

namespace tilewright::sketch {

// Sets the layouts of the constants that vary along the vector axis. `body`: of
// the reduction, its prologue inlined.
void PackConstants(ScheduleWriter& writer, const TensorGraph& graph,
                   const Tensor& reduction, absl::Span<const Expr> body,
                   const OutputTiles& tiles, const ReduceLoops& loops);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_PACKED_OPERANDS_H_
