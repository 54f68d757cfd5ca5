// Runs of many fuzzed cases, each in a child process under limits.
#ifndef TILEWRIGHT_BENCH_FUZZ_FUZZ_RUNS_H_
#define TILEWRIGHT_BENCH_FUZZ_FUZZ_RUNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/fuzz/fuzz_report.h"
#include "bench/fuzz/fuzz_seeds.h"
#include "bench/fuzz/fuzz_worker.h"

namespace tilewright::bench {

struct FuzzRunOptions {
  int64_t first = 0;  // index of the first case
  int64_t models = 1000;
  FuzzLimits limits;
  double max_work = 1e8;    // elementary operations of a model that is run
  std::string ort_library;  // empty: no peer
  bool progress = false;    // a line every thousand cases, and every problem
};

// Mutants of the seeds through importer, compiler and runtime; with a peer,
// through that too.
FuzzReport FuzzOnnx(const std::vector<FuzzSeed>& seeds,
                    const FuzzRunOptions& options);

// Mutants of .tw files, compiled from the first few seeds, through loader and
// runtime.
FuzzReport FuzzTw(const std::vector<FuzzSeed>& seeds,
                  const FuzzRunOptions& options);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_FUZZ_FUZZ_RUNS_H_
