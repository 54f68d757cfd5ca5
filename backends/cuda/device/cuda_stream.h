#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_STREAM_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_STREAM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cuda/device/activity_recorder.h"
#include "backends/cuda/device/cuda_context.h"
#include "backends/device.h"

namespace tilewright::cuda {

class CudaKernel : public backends::DeviceKernel {
 public:
  CudaKernel(std::string name, CuFunction function, int threads)
      : name_(std::move(name)), function_(function), threads_(threads) {}
  const std::string& name() const { return name_; }
  CuFunction function() const { return function_; }
  int threads() const { return threads_; }  // of a block

  // Lets launches have so much dynamic shared memory; beyond 48 KiB the driver
  // wants to be asked.
  absl::Status AllowShared(CudaContext& context, int64_t bytes) const;

 private:
  const std::string name_;
  const CuFunction function_;
  const int threads_;
  mutable std::atomic<int64_t> allowed_shared_bytes_{48 * 1024};
};

// A graph of the driver's, ready to be launched.
class CudaGraph : public backends::CapturedWork {
 public:
  CudaGraph(std::shared_ptr<CudaContext> context, CuGraphExec exec,
            int64_t activities)
      : context_(std::move(context)), exec_(exec), activities_(activities) {}
  ~CudaGraph() override {
    context_->api().context_set_current(context_->handle());
    context_->api().graph_exec_destroy(exec_);
  }
  CuGraphExec exec() const { return exec_; }
  int64_t activities() const { return activities_; }

 private:
  const std::shared_ptr<CudaContext> context_;
  const CuGraphExec exec_;
  const int64_t activities_;  // kernels, copies and fills in it
};

class CudaStream : public backends::Stream {
 public:
  static absl::StatusOr<std::unique_ptr<CudaStream>> Create(
      std::shared_ptr<CudaContext> context, int64_t max_shared_bytes,
      std::shared_ptr<RecordTiming> records);
  ~CudaStream() override;

  absl::Status Launch(const backends::DeviceKernel& kernel,
                      absl::Span<void* const> args, int64_t num_tasks,
                      int64_t scratch_bytes) override;
  absl::Status Copy(void* to, const void* from, int64_t size_bytes) override;
  absl::Status CopyRows(void* to, int64_t to_stride_bytes, const void* from,
                        int64_t from_stride_bytes, int64_t size_bytes,
                        int64_t rows) override;
  absl::Status Fill(void* to, int byte, int64_t size_bytes) override;
  absl::Status Synchronize() override;
  absl::StatusOr<std::unique_ptr<backends::CapturedWork>> Capture(
      const std::function<absl::Status()>& work) override;
  absl::Status Replay(const backends::CapturedWork& captured) override;
  absl::Status WaitFor(backends::Stream& other) override;

  CuStream handle() const { return stream_; }

  // Device::TimeNs.
  absl::StatusOr<int64_t> TimeNs(const std::function<absl::Status()>& work);

 private:
  CudaStream(std::shared_ptr<CudaContext> context, int64_t max_shared_bytes,
             std::shared_ptr<RecordTiming> records)
      : context_(std::move(context)),
        max_shared_bytes_(max_shared_bytes),
        records_(std::move(records)) {}
  absl::Status Count(absl::Status enqueued);
  // Forgets the records of earlier work. Null if events have to time.
  absl::StatusOr<ActivityRecorder*> StartRecords();
  absl::StatusOr<int64_t> TimeByEvents(
      const std::function<absl::Status()>& work);

  const std::shared_ptr<CudaContext> context_;
  const int64_t max_shared_bytes_;
  const std::shared_ptr<RecordTiming> records_;
  CuStream stream_ = nullptr;
  CuEvent start_ = nullptr, end_ = nullptr;
  CuEvent reached_ = nullptr;        // what others wait for; made when one does
  ActivityRecorder::StreamKey key_;  // where there were records at first
  int64_t activities_ = 0;  // launched, copied, filled since the last timing
};

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUDA_STREAM_H_
