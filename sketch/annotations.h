// Decisions that only lowering can resolve. Their preferred answer is "auto",
// which leaves them to it and writes nothing.
//
//   unroll    copies in a row of the body of a tile's innermost reduce loop
//   prefetch  steps of that loop that the update brings what it reads closer
//             ahead of its use; "none"
#ifndef TILEWRIGHT_SKETCH_ANNOTATIONS_H_
#define TILEWRIGHT_SKETCH_ANNOTATIONS_H_

#include "sketch/schedule.h"
#include "tilegraph/decision/decider.h"

namespace tilewright::sketch {

// "unroll" and "prefetch" of a serial loop directly around the loops of a
// register tile.
void DecideReduceAnnotations(Decider& decider, ScheduleWriter& writer,
                             Handle loop);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_ANNOTATIONS_H_
