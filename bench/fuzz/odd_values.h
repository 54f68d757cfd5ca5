// Numbers that programs forget: borders, zeros, signs, the far too large.
#ifndef TILEWRIGHT_BENCH_FUZZ_ODD_VALUES_H_
#define TILEWRIGHT_BENCH_FUZZ_ODD_VALUES_H_

#include <cstdint>

#include "base/random.h"

namespace tilewright::bench {

// Another number than `before`: near it, small, or at a border of some type.
int64_t OddInteger(Random& random, int64_t before);
double OddFloat(Random& random, double before);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_ODD_VALUES_H_
