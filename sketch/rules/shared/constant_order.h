// Constants that maps read, in the order in which results lie in memory.
#ifndef TILEWRIGHT_SKETCH_RULES_SHARED_CONSTANT_ORDER_H_
#define TILEWRIGHT_SKETCH_RULES_SHARED_CONSTANT_ORDER_H_

#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {

// Neighbouring results read neighbours: of constants that the maps behind all
// reductions read element by element, those whose neighbours lie along another
// axis get a layout ("set_layout"), as a position's embedding that is added to
// an image in blocks of channels.
void LayConstantsAsResults(const Workload& workload, ScheduleWriter& writer);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_RULES_SHARED_CONSTANT_ORDER_H_
