// The decisions that all families over output tiles share.
//
//   tile             vectors, rows and outer rows of one register tile
//   task.rows,       tiles of a task along these axes; those of the vector axis
//   task.outer_rows, where the family's tasks take several
//   task.vectors
//   order            how the steps of a task nest, outermost first
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_TILE_DECISIONS_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_TILE_DECISIONS_H_

#include <cstdint>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "sketch/rules/shared/output_tiles.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/plan/register_tile.h"

namespace tilewright::sketch {

// "tile": any that fits the registers, is allowed and leaves enough tiles; the
// preferred one is `rule`.
RegisterTile DecideRegisterTile(Decider& decider, const TileSpace& space,
                                const RegisterTile& rule,
                                Bits bits = Bits::kSame);

// "task.rows" and so on: steps of a task along `axes` (absent ones are -1), the
// first ones first. Preferred is what `budget` gives them in turn. No answer
// leaves fewer tasks than that, or than LeastTasks, whichever is less.
void DecideSteps(Decider& decider, OutputTiles& tiles, const DeviceSpec& spec,
                 const std::vector<int>& axes, TaskBudget budget);
// The same where the steps of `rule` are preferred; else it equals `tiles`.
void DecideSteps(Decider& decider, OutputTiles& tiles, const DeviceSpec& spec,
                 const std::vector<int>& axes, const OutputTiles& rule);

// Tasks that every answer leaves, where the rule leaves `by_rule`: those, or
// four a core, whichever is less.
int64_t LeastTasks(int64_t cores, int64_t by_rule);
int64_t LeastTasks(const DeviceSpec& spec, int64_t by_rule);
// The most of `left` steps that a task may take so that at least `least` tasks
// are left, of `others` for each of them.
int64_t MostStepsOfATask(int64_t left, int64_t others, int64_t least);

// "order": any of the axes with several steps, the others outside of them.
// Preferred is what vectors_inside says.
void DecideStepOrder(Decider& decider, OutputTiles& tiles);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_TILE_DECISIONS_H_
