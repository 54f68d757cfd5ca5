#include "tools/tune/measuring.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/spec/caches.h"
#include "base/status_macros.h"
#include "measure/farm/farm_measurer.h"
#include "measure/parallel/parallel_measurer.h"
#include "measure/parallel/parallel_measurer_options.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::tools {
namespace {

constexpr int kMostWorkers = 6;
// Time of one candidate in one round of a comparison.
constexpr double kSecondsOfARound = 0.03;

// A measurer that has its processes.
class PoolMeasurer : public measure::Measurer {
 public:
  PoolMeasurer(std::unique_ptr<measure::ProcessPool> pool,
               const measure::ParallelMeasurerOptions& how)
      : pool_(std::move(pool)), measurer_(pool_.get(), how) {}
  const measure::ProcessPool& pool() const { return *pool_; }

 protected:
  absl::StatusOr<std::vector<measure::Measurement>> DoMeasure(
      const measure::MeasureBatch& batch) override {
    return measurer_.Measure(batch);
  }

 private:
  const std::unique_ptr<measure::ProcessPool> pool_;
  measure::ParallelMeasurer measurer_;
};

absl::StatusOr<std::unique_ptr<PoolMeasurer>> Start(
    const MeasuringOptions& asked, int workers,
    const measure::ParallelMeasurerOptions& how) {
  measure::ProcessPoolOptions options;
  options.backend = asked.device.backend;
  options.backend_options = asked.device.backend_options;
  options.workers = workers;
  options.builders = std::clamp(asked.cores, 1, kMostWorkers);
  // What runs on a GPU needs no core.
  options.cores = asked.device.is_gpu ? 0 : asked.cores;
  options.verify = asked.verify;
  options.wait_for_steady_core = true;
  options.method.set_threads(asked.threads);
  options.method.set_cache(asked.cache);
  TW_ASSIGN_OR_RETURN(std::unique_ptr<measure::ProcessPool> pool,
                      measure::ProcessPool::Create(options));
  return std::make_unique<PoolMeasurer>(std::move(pool), how);
}

}  // namespace

measure::Method::Cache CacheOf(const CompiledModel& model,
                               const DeviceSpec& spec) {
  int64_t constant_bytes = 0;
  for (const Tensor& tensor : model.graph.tensors()) {
    if (tensor.kind == TensorKind::kConstant)
      constant_bytes += tensor.num_bytes();
  }
  return constant_bytes > LargestCacheBytes(spec)
             ? measure::Method::FRESH_CONSTANTS
             : measure::Method::WARM;
}

absl::StatusOr<Measuring> StartMeasuring(const MeasuringOptions& options) {
  const int workers = options.threads > 1 || options.device.is_gpu
                          ? 1
                          : std::clamp(options.cores, 1, kMostWorkers);
  Measuring measuring;
  measure::FarmDevice device;
  device.name = options.device.backend;
  // Processes end with the thread that started them: the farm's.
  device.start = [&]() -> absl::StatusOr<std::unique_ptr<measure::Measurer>> {
    TW_ASSIGN_OR_RETURN(
        std::unique_ptr<PoolMeasurer> measurer,
        Start(options, workers,
              measure::ParallelMeasurerOptions::ForCores(workers)));
    measuring.pool = &measurer->pool();
    return measurer;
  };
  TW_ASSIGN_OR_RETURN(measuring.measurer,
                      measure::FarmMeasurer::Start({device}));
  return measuring;
}

absl::StatusOr<Measuring> StartComparing(const MeasuringOptions& options) {
  auto how = measure::ParallelMeasurerOptions::ForCores(1);
  how.visits = 1;
  how.repeats.most_seconds = kSecondsOfARound;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<PoolMeasurer> measurer,
                      Start(options, /*workers=*/1, how));
  Measuring measuring;
  measuring.pool = &measurer->pool();
  measuring.measurer = std::move(measurer);
  return measuring;
}

}  // namespace tilewright::tools
