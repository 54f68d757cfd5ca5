// Schedules near another one.
#ifndef TILEWRIGHT_BENCH_MEASURING_MUTATE_DECISIONS_H_
#define TILEWRIGHT_BENCH_MEASURING_MUTATE_DECISIONS_H_

#include "base/random.h"
#include "sketch/schedule.h"

namespace tilewright::bench {

// One to three decisions changed: splits by a factor or a step, choices and
// orders by another one. A split that divides what another split's inner part
// is follows it. Whether it replays is for the caller to see.
sketch::Schedule MutateDecisions(const sketch::Schedule& schedule,
                                 Random& random);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_MEASURING_MUTATE_DECISIONS_H_
