// Loops of a drawn schedule given to threads at random.
#ifndef TILEWRIGHT_SKETCH_TESTING_RANDOM_THREADS_H_
#define TILEWRIGHT_SKETCH_TESTING_RANDOM_THREADS_H_

#include "base/random.h"
#include "sketch/testing/growing_schedule.h"

namespace tilewright::sketch {

// Binds nests around most blocks: threads, lanes in warps, lanes that combine
// a reduction, side by side. The schedule stays whole.
void BindThreads(GrowingSchedule& grown, Random& random);

}  // namespace tilewright::sketch

#endif  // TILEWRIGHT_SKETCH_TESTING_RANDOM_THREADS_H_
