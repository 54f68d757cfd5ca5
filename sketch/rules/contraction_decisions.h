// The decisions about the loops of a contraction: its register tile, how the
// tiles make tasks, and how its terms are cut and ordered.
//
// It asks, in this order: tile_order.h's "lanes" and "rows"; "dot" (whether
// narrow numbers run on the machine's dot intrinsic); reduce_loops.h;
// tile_decisions.h; tile_order.h's "task.order".
#ifndef TILEWRIGHT_SKETCH_RULES_CONTRACTION_DECISIONS_H_
#define TILEWRIGHT_SKETCH_RULES_CONTRACTION_DECISIONS_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/dot_choice.h"
#include "sketch/rules/shared/compute_location.h"
#include "sketch/rules/shared/find_edges.h"
#include "sketch/rules/shared/group_chain.h"
#include "sketch/rules/shared/output_tiles.h"
#include "sketch/rules/shared/reduce_loops.h"
#include "sketch/trace/workload.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::sketch {

struct ContractionLoops {
  OutputTiles tiles;
  ReduceLoops reduce;
  std::optional<DotChoice> dot;
};

// `body`: of the reduction, what is before it inlined; `edges`: its known
// zeros. In a stage, whose task
// is given, the tiles cover all of it. REQUIRES: `chain` is that of the
// workload's graph and has a reduction; its output has a dimension.
ContractionLoops DecideContraction(const Workload& workload,
                                   const DeviceSpec& spec, const Chain& chain,
                                   const ComputeLocation& location,
                                   const std::vector<Expr>& body,
                                   absl::Span<const Edge> edges);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_CONTRACTION_DECISIONS_H_
