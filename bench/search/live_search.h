// One search of a workload on this machine, with the real builder and measurer,
// and what came of it after so many trials.
#ifndef TILEWRIGHT_BENCH_SEARCH_LIVE_SEARCH_H_
#define TILEWRIGHT_BENCH_SEARCH_LIVE_SEARCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "bench/measuring/named_workload.h"
#include "bench/search/scheme.h"
#include "measure/parallel/worker_pool.h"
#include "measure/worker/pool/process_pool_options.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.pb.h"

namespace tilewright::bench {

// Whose schedules are searched: "rules" (the workload's family), "sketch" (the
// extended derivation) or "template". InvalidArgument for any other.
absl::StatusOr<sketch::Generator> GeneratorOf(const std::string& policy,
                                              const NamedWorkload& named);

// A pool that measures candidates of one thread on this CPU, warm.
measure::ProcessPoolOptions OneThreadPool();

struct LiveSearchOptions {
  int trials = 200;
  double seconds = 90;  // of wall time; the last batch may take it past that
  int batch = 16;
  std::vector<int> checkpoints = {10, 50, 100, 200};  // trials, ascending
  int turns = 5;
};

struct LiveSearch {
  int trials = 0, failed = 0;
  double wall_s = 0, search_s = 0;
  double rules_ns = 0;  // of the schedule by rule, beside the others below
  // By checkpoint: the candidate that was the fastest so far, measured again
  // with the rules' schedule, interleaved, each alone. Infinity: none worked.
  std::vector<double> best_ns;
  std::string best;  // the last one's decisions
};

// A scheme that is not seeded never sees what a generator prefers. An error is
// the pool's, or the rules' schedule's, or that nothing worked.
absl::StatusOr<LiveSearch> SearchLive(const NamedWorkload& named,
                                      const sketch::Generator& generator,
                                      const Scheme& scheme, uint64_t seed,
                                      const LiveSearchOptions& options,
                                      measure::WorkerPool* pool);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_SEARCH_LIVE_SEARCH_H_
