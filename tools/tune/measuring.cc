#include "tools/tune/measuring.h"

#include <algorithm>
#include <cstdint>

#include "backends/spec/caches.h"
#include "base/status_macros.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/parallel/parallel_measurer_options.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::tools {
namespace {

constexpr int kMostWorkers = 6;
// Time of one candidate in one round of a comparison.
constexpr double kSecondsOfARound = 0.03;

absl::StatusOr<Measuring> Start(const MeasuringOptions& asked, int workers,
                                bool compare) {
  measure::ProcessPoolOptions options;
  options.backend = "cpu";
  options.workers = workers;
  options.builders = std::clamp(asked.cores, 1, kMostWorkers);
  options.cores = asked.cores;
  options.verify = asked.verify;
  options.method.set_threads(asked.threads);
  options.method.set_cache(asked.cache);
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

measure::Method::Cache CacheOf(const CompiledModel& model,
                               const DeviceSpec& spec) {
  int64_t constant_bytes = 0;
  for (const Tensor& tensor : model.graph.tensors()) {
    if (tensor.kind == TensorKind::kConstant)
      constant_bytes += tensor.num_elements() * SizeBytes(tensor.dtype);
  }
  return constant_bytes > LargestCacheBytes(spec)
             ? measure::Method::FRESH_CONSTANTS
             : measure::Method::WARM;
}

absl::StatusOr<Measuring> StartMeasuring(const MeasuringOptions& options) {
  const int workers =
      options.threads > 1 ? 1 : std::clamp(options.cores, 1, kMostWorkers);
  return Start(options, workers, /*compare=*/false);
}

absl::StatusOr<Measuring> StartComparing(const MeasuringOptions& options) {
  return Start(options, /*workers=*/1, /*compare=*/true);
}

}  // namespace tilewright::tools
