// Decisions about the axes of output tiles and the order of tasks, which all
// families over output tiles can ask. None changes bits.
//
//   lanes       the axis that is cut into vectors: the contiguous one, or
//               another, whose results are shuffled into place as they are
//               written
//   rows        the axes along which the rows of a register tile run and its
//               outer rows, "axis2*axis1"
//   task.order  the loops over tasks, outermost first: neighbouring tasks share
//               what the innermost one does not move
//
// Axis N of the output is called axisN; in the order of tasks those of a tile
// by their roles: vectors, rows, outer_rows.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_TILE_ORDER_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_TILE_ORDER_H_

#include "absl/functional/function_ref.h"
#include "sketch/rules/shared/output_tiles.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/table.h"

namespace tilewright::sketch {

// "lanes", where several axes could be; preferred is what `tiles` says. Another
// axis has other row axes. `may`: whether another axis leaves enough tasks.
void DecideLanes(Decider& decider, OutputTiles& tiles,
                 absl::FunctionRef<bool(int axis)> may);

// "rows", where several axes could be; preferred is what `tiles` says.
void DecideRows(Decider& decider, OutputTiles& tiles, Bits bits);

// "task.order", once all tasks are chosen; preferred is the order of the axes.
void DecideTaskOrder(Decider& decider, OutputTiles& tiles);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_TILE_ORDER_H_
