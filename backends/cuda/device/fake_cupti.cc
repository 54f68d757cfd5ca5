// The profiler's API over the fake device: the symbols of cupti_api.h.
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

#include "backends/cuda/device/cupti_api.h"
#include "backends/cuda/device/fake_device.h"
#include "backends/cuda/device/fake_driver.h"

namespace tilewright::cuda::fake {
namespace {

std::mutex mutex;  // of all below
bool profiling = false;
CuptiBufferRequested buffer_requested;
CuptiBufferCompleted buffer_completed;
std::string records;       // not delivered yet
std::string late_records;  // come with the next one

template <typename Activity>
void Append(uint32_t kind, uint32_t stream, uint64_t start_ns) {
  Activity activity = {};
  activity.kind = kind;
  activity.start_ns = start_ns;
  activity.end_ns = NowNs();
  activity.context = kContextId;
  activity.stream = stream;
  const int fate = Planned(kRecordSymbol);
  if (fate == kRecordLost) return;
  if (fate == kRecordUntimed) activity.start_ns = activity.end_ns = 0;
  const std::string record(reinterpret_cast<const char*>(&activity),
                           sizeof(activity));
  if (fate == kRecordLate) {
    late_records += record;
    return;
  }
  records += late_records + record;
  late_records.clear();
  if (fate == kRecordTwice) records += record;
}

size_t RecordBytes(uint32_t kind) {
  return kind == kCuptiConcurrentKernel ? sizeof(CuptiKernelActivity)
                                        : sizeof(CuptiCopyActivity);
}

}  // namespace

void RecordActivity(uint32_t kind, uint32_t stream, uint64_t start_ns) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!profiling) return;
  if (kind == kCuptiConcurrentKernel) {
    Append<CuptiKernelActivity>(kind, stream, start_ns);
  } else {
    Append<CuptiCopyActivity>(kind, stream, start_ns);
  }
}

}  // namespace tilewright::cuda::fake

using namespace tilewright::cuda;        // NOLINT: the API implemented here
using namespace tilewright::cuda::fake;  // NOLINT

TILEWRIGHT_EXPORT CuptiResult cuptiGetResultString(CuptiResult,
                                                   const char** text) {
  *text = "a text of the fake profiler";
  return 0;
}
TILEWRIGHT_EXPORT CuptiResult cuptiActivityRegisterCallbacks(
    CuptiBufferRequested requested, CuptiBufferCompleted completed) {
  Log("cuptiActivityRegisterCallbacks");
  if (const int planned = Planned("cuptiActivityRegisterCallbacks")) {
    return planned;
  }
  buffer_requested = requested;
  buffer_completed = completed;
  return 0;
}
TILEWRIGHT_EXPORT CuptiResult cuptiActivityEnable(uint32_t) {
  Log("cuptiActivityEnable");
  if (const int planned = Planned("cuptiActivityEnable")) return planned;
  std::lock_guard<std::mutex> lock(mutex);
  profiling = true;
  return 0;
}
TILEWRIGHT_EXPORT CuptiResult cuptiActivityFlushAll(uint32_t) {
  const int planned = Planned("cuptiActivityFlushAll");
  std::string ready;
  {
    std::lock_guard<std::mutex> lock(mutex);
    ready.swap(records);
  }
  if (planned != 0 || ready.empty()) return planned;
  size_t sent = 0;
  while (sent < ready.size()) {
    uint8_t* buffer = nullptr;
    size_t bytes = 0, max_records = 0;
    buffer_requested(&buffer, &bytes, &max_records);
    // Whole records, as long as there is room.
    size_t fit = 0;
    while (sent + fit < ready.size()) {
      CuptiActivity record;
      std::memcpy(&record, &ready[sent + fit], sizeof(record));
      const size_t size = RecordBytes(record.kind);
      if (fit + size > bytes) break;
      fit += size;
    }
    std::memcpy(buffer, &ready[sent], fit);
    buffer_completed(nullptr, 0, buffer, bytes, fit);
    sent += fit;
  }
  return 0;
}
TILEWRIGHT_EXPORT CuptiResult cuptiActivityGetNextRecord(
    uint8_t* buffer, size_t valid_bytes, CuptiActivity** record) {
  auto* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<uint8_t*>(*record) + RecordBytes((*record)->kind);
  }
  if (next >= buffer + valid_bytes) return kCuptiMaxLimitReached;
  *record = reinterpret_cast<CuptiActivity*>(next);
  return 0;
}
TILEWRIGHT_EXPORT CuptiResult cuptiGetContextId(CuContext, uint32_t* id) {
  *id = kContextId;
  return 0;
}
TILEWRIGHT_EXPORT CuptiResult cuptiGetStreamIdEx(CuContext, CuStream stream,
                                                 uint8_t, uint32_t* id) {
  *id = StreamOf(stream).id();
  return 0;
}
