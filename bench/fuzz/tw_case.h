// A .tw file through loader and runtime.
#ifndef TILEWRIGHT_BENCH_FUZZ_TW_CASE_H_
#define TILEWRIGHT_BENCH_FUZZ_TW_CASE_H_

#include <memory>

#include "backends/device.h"
#include "bench/fuzz/fuzz_answer.h"
#include "bench/fuzz/mutate_tw.h"

namespace tilewright::bench {

// Loads it and makes a session; runs it if it may be run, with every input and
// output between pages that cannot be touched. "loaded", "ran", "large" or
// "refused".
FuzzAnswer RunTwCase(const TwMutant& mutant,
                     const std::shared_ptr<backends::Device>& device);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_TW_CASE_H_
