// A tile plan as a schedule, and nothing more: tasks are the tiles of the
// outermost level, every member is computed at them, reductions in the plan's
// steps. Loops inside a tile stay as they are; what they do in registers is for
// the default schedules.
#ifndef TILEWRIGHT_SKETCH_FUSED_TILE_PLAN_SCHEDULE_H_
#define TILEWRIGHT_SKETCH_FUSED_TILE_PLAN_SCHEDULE_H_

#include "sketch/trace/schedule.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/traffic/mem_traffic.h"
#include "tilegraph/traffic/tile_graph.h"

namespace tilewright::sketch {

// `part` is all that `graph` computes.
Schedule TilePlanSchedule(const TensorGraph& graph, const Subgraph& part,
                          const LevelTiles& tiles);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_FUSED_TILE_PLAN_SCHEDULE_H_
