#include "tools/tune/measuring.h"

#include <algorithm>

#include "base/status_macros.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/parallel/parallel_measurer_options.h"
#include "measure/record/record.pb.h"

namespace tilewright::tools {
namespace {

constexpr int kMostWorkers = 6;
// Time of one candidate in one round of a comparison.
constexpr double kSecondsOfARound = 0.03;

absl::StatusOr<Measuring> Start(int cores, int threads, bool verify,
                                int workers, bool compare) {
  measure::ProcessPoolOptions options;
  options.backend = "cpu";
  options.workers = workers;
  options.builders = std::clamp(cores, 1, kMostWorkers);
  options.cores = cores;
  options.verify = verify;
  options.method.set_threads(threads);
  options.method.set_cache(measure::Method::WARM);
  Measuring measuring;
  TW_ASSIGN_OR_RETURN(measuring.pool, measure::ProcessPool::Create(options));
  auto how = measure::ParallelMeasurerOptions::ForCores(workers);
  if (compare) {
    how.visits = 1;
    how.repeats.most_seconds = kSecondsOfARound;
  }
  measuring.measurer =
      std::make_unique<measure::ParallelMeasurer>(measuring.pool.get(), how);
  return measuring;
}

}  // namespace

absl::StatusOr<Measuring> StartMeasuring(int cores, int threads, bool verify) {
  const int workers = threads > 1 ? 1 : std::clamp(cores, 1, kMostWorkers);
  return Start(cores, threads, verify, workers, /*compare=*/false);
}

absl::StatusOr<Measuring> StartComparing(int cores, int threads, bool verify) {
  return Start(cores, threads, verify, /*workers=*/1, /*compare=*/true);
}

}  // namespace tilewright::tools
