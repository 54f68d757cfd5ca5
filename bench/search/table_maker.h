// Measures a table that can be replayed (search_table.h) on this machine.
#ifndef TILEWRIGHT_BENCH_SEARCH_TABLE_MAKER_H_
#define TILEWRIGHT_BENCH_SEARCH_TABLE_MAKER_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "bench/measuring/named_workload.h"
#include "bench/search/search_table.pb.h"
#include "measure/parallel/worker_pool.h"
#include "sketch/rules/generator.h"

namespace tilewright::bench {

struct MakeTableOptions {
  int64_t points = 2000;
  int64_t seed = 1;
  int batch = 64;
  int executions = 50;         // of a pass, at most
  double pass_seconds = 0.05;  // of executing a candidate, at most
};

// Entries are measured in random order, each alone, a batch in two passes in
// different orders. What fails is an entry too. `progress` is told how many of
// how many entries are done. Errors are the pool's, or the generator's refusal
// of what it prefers.
absl::StatusOr<SearchTableProto> MakeTable(
    const NamedWorkload& named, const sketch::Generator& generator,
    const MakeTableOptions& options, measure::WorkerPool& pool,
    const std::function<void(int done, int all)>& progress);

}  // namespace tilewright::bench

#endif  // TILEWRIGHT_BENCH_SEARCH_TABLE_MAKER_H_
