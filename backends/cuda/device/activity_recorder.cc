#include "backends/cuda/device/activity_recorder.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kBufferAlignment = 64;
constexpr int kLooks = 2000;  // one a millisecond

// CUPTI's callbacks have no argument of the client's.
std::atomic<ActivityRecorder*> the_recorder{nullptr};

template <typename Activity>
std::pair<ActivityRecorder::StreamKey, int64_t> Read(
    const CuptiActivity* record) {
  const auto* activity = reinterpret_cast<const Activity*>(record);
  const bool timed = activity->start_ns != 0 && activity->end_ns != 0;
  return {
      {activity->context, activity->stream},
      timed ? static_cast<int64_t>(activity->end_ns - activity->start_ns) : -1};
}

}  // namespace

absl::StatusOr<ActivityRecorder*> ActivityRecorder::Get(
    const std::string& path) {
  static const auto* result = [&]() -> absl::StatusOr<ActivityRecorder*>* {
    using Result = absl::StatusOr<ActivityRecorder*>;
    absl::StatusOr<std::unique_ptr<CuptiApi>> api = OpenCupti(path);
    if (!api.ok()) return new Result(api.status());
    // For ever: CUPTI may call until the process ends.
    the_recorder = new ActivityRecorder(*std::move(api));
    const absl::Status enabled = the_recorder.load()->Enable();
    return enabled.ok() ? new Result(the_recorder.load()) : new Result(enabled);
  }();
  return *result;
}

absl::Status ActivityRecorder::Enable() {
  TW_RETURN_IF_ERROR(ToStatus(
      *api_, api_->register_callbacks(OnBufferRequested, OnBufferCompleted),
      "cuptiActivityRegisterCallbacks"));
  for (const CuptiActivityKind kind :
       {kCuptiConcurrentKernel, kCuptiMemcpy, kCuptiMemset}) {
    TW_RETURN_IF_ERROR(
        ToStatus(*api_, api_->enable(kind), "cuptiActivityEnable"));
  }
  return absl::OkStatus();
}

void ActivityRecorder::OnBufferRequested(uint8_t** buffer, size_t* bytes,
                                         size_t* max_records) {
  *buffer =
      static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;  // as many as fit
}

void ActivityRecorder::OnBufferCompleted(CuContext, uint32_t, uint8_t* buffer,
                                         size_t, size_t valid_bytes) {
  if (ActivityRecorder* recorder = the_recorder) {
    recorder->Add(buffer, valid_bytes);
  }
  std::free(buffer);
}

void ActivityRecorder::Add(uint8_t* buffer, size_t valid_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  CuptiActivity* record = nullptr;
  while (api_->next_record(buffer, valid_bytes, &record) == kCuptiSuccess) {
    std::pair<StreamKey, int64_t> read;
    if (record->kind == kCuptiConcurrentKernel) {
      read = Read<CuptiKernelActivity>(record);
    } else if (record->kind == kCuptiMemcpy || record->kind == kCuptiMemset) {
      read = Read<CuptiCopyActivity>(record);
    } else {
      continue;
    }
    Recorded& recorded = recorded_[read.first];
    ++recorded.activities;
    if (read.second >= 0) {
      recorded.sum_ns += read.second;
    } else {
      recorded.incomplete = true;
    }
  }
}

absl::StatusOr<ActivityRecorder::StreamKey> ActivityRecorder::KeyOf(
    CuContext context, CuStream stream) {
  StreamKey key;
  TW_RETURN_IF_ERROR(ToStatus(*api_, api_->get_context_id(context, &key.first),
                              "cuptiGetContextId"));
  TW_RETURN_IF_ERROR(
      ToStatus(*api_, api_->get_stream_id(context, stream, 0, &key.second),
               "cuptiGetStreamIdEx"));
  return key;
}

void ActivityRecorder::Reset(const StreamKey& stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  recorded_.erase(stream);
}

absl::StatusOr<int64_t> ActivityRecorder::SumNs(const StreamKey& stream,
                                                int64_t activities) {
  Recorded recorded;
  for (int look = 0; look < kLooks && recorded.activities < activities;
       ++look) {
    // A buffer comes when all activities in it have ended, those of other
    // streams too.
    if (look > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    TW_RETURN_IF_ERROR(
        ToStatus(*api_, api_->flush_all(0), "cuptiActivityFlushAll"));
    std::lock_guard<std::mutex> lock(mutex_);
    recorded = recorded_[stream];
  }
  if (recorded.activities != activities || recorded.incomplete) {
    return absl::UnavailableError(absl::StrCat(
        "CUPTI has ", recorded.activities, " records of ", activities,
        " activities", recorded.incomplete ? ", some without times" : ""));
  }
  return recorded.sum_ns;
}

ActivityRecorder* RecordTiming::recorder() {
  std::lock_guard<std::mutex> lock(mutex_);
  return recorder_;
}

absl::Status RecordTiming::status() {
  std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

void RecordTiming::GiveUp(const absl::Status& why) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (recorder_ == nullptr) return;
  recorder_ = nullptr;
  status_ = absl::Status(
      why.code(), absl::StrCat(why.message(), "; events time from then on"));
}

}  // namespace tilewright::cuda
