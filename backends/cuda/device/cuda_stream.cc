#include "backends/cuda/device/cuda_stream.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

// The least of what devices tell (CU_DEVICE_ATTRIBUTE_MAX_PITCH).
constexpr int64_t kMostPitchBytes = INT32_MAX;

CuAddress AddressOf(const void* pointer) {
  return reinterpret_cast<CuAddress>(pointer);
}

}  // namespace

absl::Status CudaKernel::AllowShared(CudaContext& context,
                                     int64_t bytes) const {
  if (bytes <= allowed_shared_bytes_) return absl::OkStatus();
  TW_RETURN_IF_ERROR(context.Check(
      context.api().function_set_attribute(
          function_, kCuFunctionMaxDynamicSharedBytes, static_cast<int>(bytes)),
      absl::StrCat("kernel ", name_, " with ", bytes,
                   " bytes of shared memory")));
  allowed_shared_bytes_ = bytes;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CudaStream>> CudaStream::Create(
    std::shared_ptr<CudaContext> context, int64_t max_shared_bytes,
    std::shared_ptr<RecordTiming> records) {
  TW_RETURN_IF_ERROR(context->Enter());
  CudaContext& in = *context;
  std::unique_ptr<CudaStream> stream(
      new CudaStream(std::move(context), max_shared_bytes, std::move(records)));
  // Non-blocking: nothing waits for the legacy default stream.
  TW_RETURN_IF_ERROR(
      in.Check(in.api().stream_create(&stream->stream_, kCuStreamNonBlocking),
               "cuStreamCreate"));
  if (ActivityRecorder* const recorder = stream->records_->recorder()) {
    TW_ASSIGN_OR_RETURN(stream->key_,
                        recorder->KeyOf(in.handle(), stream->stream_));
    recorder->Reset(stream->key_);
  }
  for (CuEvent* event : {&stream->start_, &stream->end_}) {
    TW_RETURN_IF_ERROR(in.Check(in.api().event_create(event, kCuEventDefault),
                                "cuEventCreate"));
  }
  return stream;
}

CudaStream::~CudaStream() {
  const DriverApi& api = context_->api();
  api.context_set_current(context_->handle());
  for (const CuEvent event : {start_, end_, reached_}) {
    if (event != nullptr) api.event_destroy(event);
  }
  if (stream_ != nullptr) api.stream_destroy(stream_);
}

absl::Status CudaStream::Count(absl::Status enqueued) {
  if (enqueued.ok()) ++activities_;
  return enqueued;
}

absl::Status CudaStream::Launch(const backends::DeviceKernel& kernel,
                                absl::Span<void* const> args, int64_t num_tasks,
                                int64_t scratch_bytes) {
  const auto& cuda_kernel = static_cast<const CudaKernel&>(kernel);
  TW_RETURN_IF_ERROR(context_->Enter());
  if (num_tasks == 0) return absl::OkStatus();
  if (num_tasks < 0 || num_tasks > INT32_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", cuda_kernel.name(), " with ", num_tasks,
                     " tasks: a grid has at most ", INT32_MAX, " blocks"));
  }
  if (scratch_bytes > max_shared_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "kernel ", cuda_kernel.name(), " wants ", scratch_bytes,
        " bytes of shared memory, a block has at most ", max_shared_bytes_));
  }
  TW_RETURN_IF_ERROR(cuda_kernel.AllowShared(*context_, scratch_bytes));
  std::vector<CuAddress> values;
  std::vector<void*> parameters;
  values.reserve(args.size());
  for (void* const arg : args) {
    values.push_back(AddressOf(arg));
    parameters.push_back(&values.back());
  }
  return Count(context_->Check(
      context_->api().launch_kernel(
          cuda_kernel.function(), static_cast<unsigned>(num_tasks), 1, 1,
          static_cast<unsigned>(cuda_kernel.threads()), 1, 1,
          static_cast<unsigned>(scratch_bytes), stream_, parameters.data(),
          nullptr),
      absl::StrCat("kernel ", cuda_kernel.name())));
}

absl::Status CudaStream::Copy(void* to, const void* from, int64_t size_bytes) {
  TW_RETURN_IF_ERROR(context_->Enter());
  if (size_bytes <= 0) return absl::OkStatus();
  return Count(context_->Check(context_->api().memory_copy_async(
                                   AddressOf(to), AddressOf(from),
                                   static_cast<size_t>(size_bytes), stream_),
                               "cuMemcpyAsync"));
}

absl::Status CudaStream::CopyRows(void* to, int64_t to_stride_bytes,
                                  const void* from, int64_t from_stride_bytes,
                                  int64_t size_bytes, int64_t rows) {
  if (size_bytes <= 0 || rows <= 0) return absl::OkStatus();
  const auto is_pitch = [&](int64_t stride_bytes) {
    return stride_bytes >= size_bytes && stride_bytes <= kMostPitchBytes;
  };
  if (rows == 1 || !is_pitch(to_stride_bytes) || !is_pitch(from_stride_bytes)) {
    return Stream::CopyRows(to, to_stride_bytes, from, from_stride_bytes,
                            size_bytes, rows);
  }
  TW_RETURN_IF_ERROR(context_->Enter());
  CuRowCopy copy;
  copy.from.kind = copy.to.kind = kCuUnified;
  copy.from.address = AddressOf(from);
  copy.from.pitch_bytes = static_cast<size_t>(from_stride_bytes);
  copy.to.address = AddressOf(to);
  copy.to.pitch_bytes = static_cast<size_t>(to_stride_bytes);
  copy.width_bytes = static_cast<size_t>(size_bytes);
  copy.height = static_cast<size_t>(rows);
  return Count(
      context_->Check(context_->api().memory_copy_rows_async(&copy, stream_),
                      "cuMemcpy2DAsync"));
}

absl::Status CudaStream::Fill(void* to, int byte, int64_t size_bytes) {
  TW_RETURN_IF_ERROR(context_->Enter());
  if (size_bytes <= 0) return absl::OkStatus();
  return Count(
      context_->Check(context_->api().memory_set_async(
                          AddressOf(to), static_cast<unsigned char>(byte),
                          static_cast<size_t>(size_bytes), stream_),
                      "cuMemsetD8Async"));
}

absl::Status CudaStream::Synchronize() {
  TW_RETURN_IF_ERROR(context_->Enter());
  return context_->Check(context_->api().stream_synchronize(stream_),
                         "cuStreamSynchronize");
}

absl::StatusOr<std::unique_ptr<backends::CapturedWork>> CudaStream::Capture(
    const std::function<absl::Status()>& work) {
  const DriverApi& api = context_->api();
  TW_RETURN_IF_ERROR(context_->Enter());
  TW_RETURN_IF_ERROR(
      context_->Check(api.stream_begin_capture(stream_, kCuCaptureThreadLocal),
                      "cuStreamBeginCapture"));
  const int64_t before = activities_;
  const absl::Status worked = work();
  // What was captured did not run.
  const int64_t activities = std::exchange(activities_, before) - before;
  CuGraph graph = nullptr;
  const absl::Status ended = context_->Check(
      api.stream_end_capture(stream_, &graph), "cuStreamEndCapture");
  CuGraphExec exec = nullptr;
  absl::Status status = worked.ok() ? ended : worked;
  if (status.ok()) {
    status = context_->Check(api.graph_instantiate(&exec, graph, /*flags=*/0),
                             "cuGraphInstantiate");
  }
  if (graph != nullptr) api.graph_destroy(graph);
  TW_RETURN_IF_ERROR(status);
  return std::make_unique<CudaGraph>(context_, exec, activities);
}

absl::Status CudaStream::Replay(const backends::CapturedWork& captured) {
  const auto& graph = static_cast<const CudaGraph&>(captured);
  TW_RETURN_IF_ERROR(context_->Enter());
  TW_RETURN_IF_ERROR(context_->Check(
      context_->api().graph_launch(graph.exec(), stream_), "cuGraphLaunch"));
  activities_ += graph.activities();
  return absl::OkStatus();
}

absl::Status CudaStream::WaitFor(backends::Stream& other) {
  const DriverApi& api = context_->api();
  auto& awaited = static_cast<CudaStream&>(other);
  TW_RETURN_IF_ERROR(context_->Enter());
  if (awaited.reached_ == nullptr) {
    TW_RETURN_IF_ERROR(context_->Check(
        api.event_create(&awaited.reached_, kCuEventDisableTiming),
        "cuEventCreate"));
  }
  TW_RETURN_IF_ERROR(context_->Check(
      api.event_record(awaited.reached_, awaited.stream_), "cuEventRecord"));
  return context_->Check(
      api.stream_wait_event(stream_, awaited.reached_, /*flags=*/0),
      "cuStreamWaitEvent");
}

absl::StatusOr<ActivityRecorder*> CudaStream::StartRecords() {
  ActivityRecorder* const recorder = records_->recorder();
  if (recorder == nullptr) return nullptr;
  // Earlier work ends first; Reset forgets its records.
  TW_RETURN_IF_ERROR(Synchronize());
  const absl::Status earlier = recorder->SumNs(key_, activities_).status();
  if (!earlier.ok()) {
    records_->GiveUp(earlier);
    return nullptr;
  }
  recorder->Reset(key_);
  activities_ = 0;
  return recorder;
}

absl::StatusOr<int64_t> CudaStream::TimeNs(
    const std::function<absl::Status()>& work) {
  TW_ASSIGN_OR_RETURN(ActivityRecorder* const recorder, StartRecords());
  // Events stand beside the records, so that work whose record is lost has a
  // time all the same.
  TW_ASSIGN_OR_RETURN(const int64_t events_ns, TimeByEvents(work));
  if (recorder == nullptr) return events_ns;
  const absl::StatusOr<int64_t> records_ns = recorder->SumNs(key_, activities_);
  if (records_ns.ok()) return *records_ns;
  records_->GiveUp(records_ns.status());
  return events_ns;
}

absl::StatusOr<int64_t> CudaStream::TimeByEvents(
    const std::function<absl::Status()>& work) {
  const DriverApi& api = context_->api();
  TW_RETURN_IF_ERROR(context_->Enter());
  TW_RETURN_IF_ERROR(
      context_->Check(api.event_record(start_, stream_), "cuEventRecord"));
  TW_RETURN_IF_ERROR(work());
  TW_RETURN_IF_ERROR(context_->Enter());
  TW_RETURN_IF_ERROR(
      context_->Check(api.event_record(end_, stream_), "cuEventRecord"));
  TW_RETURN_IF_ERROR(
      context_->Check(api.event_synchronize(end_), "cuEventSynchronize"));
  float milliseconds = 0;
  TW_RETURN_IF_ERROR(
      context_->Check(api.event_elapsed_time(&milliseconds, start_, end_),
                      "cuEventElapsedTime"));
  return static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
}

}  // namespace tilewright::cuda
