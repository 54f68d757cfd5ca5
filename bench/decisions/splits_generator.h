// A generator of few schedules that all can be counted, for tests of what draws
// tables.
#ifndef TILEWRIGHT_BENCH_DECISIONS_SPLITS_GENERATOR_H_
#define TILEWRIGHT_BENCH_DECISIONS_SPLITS_GENERATOR_H_

#include <cstdint>

#include "sketch/rules/generator.h"
#include "sketch/trace/workload.h"

namespace tilewright::bench {

// 64 elements, each plus one.
sketch::Workload SplitsWorkload();

// It cuts that workload into "parts", from 1, the rule's, to `most_parts`;
// those that leave a tail are refused. "useless" changes nothing.
sketch::Generator SplitsGenerator(int64_t most_parts);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_DECISIONS_SPLITS_GENERATOR_H_
