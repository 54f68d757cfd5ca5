// The kernels of check_kernels.h as candidates of measure's measurers: each on
// a stream of its own, in this process.
#ifndef TILEWRIGHT_TOOLS_GPU_STREAM_POOL_H_
#define TILEWRIGHT_TOOLS_GPU_STREAM_POOL_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/device.h"
#include "measure/parallel/worker_pool.h"
#include "tools/gpu/check_kernels.h"
#include "tools/gpu/loaded_kernel.h"

namespace tilewright::cuda {

class StreamPool : public measure::WorkerPool {
 public:
  // At most `workers` are under way. `device` and `module`, which holds the
  // kernels, outlive it.
  StreamPool(backends::Device* device, const backends::DeviceModule* module,
             std::vector<CheckKernel> kernels, int workers);
  ~StreamPool() override;

  // The schedule that stands for kernel `index`.
  static sketch::ScheduleProto ScheduleOf(int index);

  int workers() const override { return workers_; }
  absl::StatusOr<int> Add(const measure::WorkloadKey& workload,
                          const sketch::ScheduleProto& schedule) override;
  void Build(int candidate) override;
  void Prepare(int candidate, int worker) override;
  void Measure(int candidate, const measure::AdaptiveEvaluatorOptions& repeats,
               int timeout_s) override;
  void Release(int candidate) override;
  void Forget(int candidate) override { Release(candidate); }
  absl::StatusOr<measure::PoolEvent> Wait() override;
  // Goes on: kernels of a stream cannot be stopped, and those of a check are
  // short.
  void Abandon(int) override {}
  measure::Method method() const override;

 private:
  struct Candidate {
    int kernel = 0;
    std::unique_ptr<LoadedKernel> loaded;
    std::thread thread;  // that measures it
  };
  void Push(measure::PoolEvent event);
  measure::PoolEvent MeasureNow(
      int candidate, const measure::AdaptiveEvaluatorOptions& repeats);

  backends::Device* const device_;
  const backends::DeviceModule* const module_;
  const std::vector<CheckKernel> kernels_;
  const int workers_;
  std::deque<Candidate> candidates_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<measure::PoolEvent> events_;
};

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_TOOLS_GPU_STREAM_POOL_H_
