// Device time by CUPTI's activity records: when each kernel, copy and fill
// began and ended on the device, whatever the host did meanwhile.
#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_ACTIVITY_RECORDER_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_ACTIVITY_RECORDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/device/cupti_api.h"

namespace tilewright::cuda {

// CUPTI has one client per process, hence one recorder. Thread-safe.
class ActivityRecorder {
 public:
  // The first call opens CUPTI, from `path` or its usual places, and enables
  // the records, best before the driver is initialized; later ones return what
  // the first one did. FailedPrecondition if CUPTI is not there, Unavailable if
  // it refuses.
  static absl::StatusOr<ActivityRecorder*> Get(const std::string& path = "");

  // How a stream is named in the records.
  using StreamKey = std::pair<uint32_t, uint32_t>;  // context, stream
  absl::StatusOr<StreamKey> KeyOf(CuContext context, CuStream stream);

  // Forgets what was recorded of a stream.
  void Reset(const StreamKey& stream);
  // The sum of what a stream ran since Reset: `activities` kernels, copies and
  // fills, all of which have ended. Waits for their records for up to two
  // seconds. Unavailable if some are missing or have no times, or if there are
  // more: records of something else are among them.
  absl::StatusOr<int64_t> SumNs(const StreamKey& stream, int64_t activities);

 private:
  struct Recorded {
    int64_t activities = 0;
    int64_t sum_ns = 0;
    bool incomplete = false;  // one has no time stamps
  };
  explicit ActivityRecorder(std::unique_ptr<CuptiApi> api)
      : api_(std::move(api)) {}
  absl::Status Enable();
  void Add(uint8_t* buffer, size_t valid_bytes);
  static void OnBufferRequested(uint8_t** buffer, size_t* bytes,
                                size_t* max_records);
  static void OnBufferCompleted(CuContext context, uint32_t stream,
                                uint8_t* buffer, size_t bytes,
                                size_t valid_bytes);

  const std::unique_ptr<CuptiApi> api_;
  std::mutex mutex_;
  std::map<StreamKey, Recorded> recorded_;
};

// What a device times by: records until one of them is lost, events from then
// on, on all of its streams. What comes late is read by nobody. Thread-safe.
class RecordTiming {
 public:
  explicit RecordTiming(const absl::StatusOr<ActivityRecorder*>& recorder)
      : recorder_(recorder.ok() ? *recorder : nullptr),
        status_(recorder.status()) {}

  // Null: by events.
  ActivityRecorder* recorder();
  // OK while there is a recorder, else why there is none (any more).
  absl::Status status();
  // Only the first reason is kept.
  void GiveUp(const absl::Status& why);

 private:
  std::mutex mutex_;
  ActivityRecorder* recorder_;
  absl::Status status_;
};

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_ACTIVITY_RECORDER_H_
