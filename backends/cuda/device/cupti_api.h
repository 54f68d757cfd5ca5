// The part of CUPTI that the timer needs: see driver_api.h. Of the activity
// records only the beginning, which is the same in all versions since CUDA 9.
#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUPTI_API_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUPTI_API_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/device/driver_api.h"
#include "backends/shared_library.h"

namespace tilewright::cuda {

using CuptiResult = int;
inline constexpr CuptiResult kCuptiSuccess = 0;
inline constexpr CuptiResult kCuptiMaxLimitReached = 12;  // no more records

// Values of CUpti_ActivityKind.
enum CuptiActivityKind : uint32_t {
  kCuptiMemcpy = 1,
  kCuptiMemset = 2,
  kCuptiConcurrentKernel = 10,
};

struct CuptiActivity {
  uint32_t kind;
};

struct CuptiKernelActivity {  // CUpti_ActivityKernel4 and later
  uint32_t kind;
  uint32_t unused[3];
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t completed_ns;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
};

struct CuptiCopyActivity {  // CUpti_ActivityMemcpy, CUpti_ActivityMemset
  uint32_t kind;
  uint32_t unused;
  uint64_t bytes;
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
};

static_assert(offsetof(CuptiKernelActivity, start_ns) == 16 &&
              offsetof(CuptiKernelActivity, context) == 44);
static_assert(offsetof(CuptiCopyActivity, start_ns) == 16 &&
              offsetof(CuptiCopyActivity, context) == 36);

using CuptiBufferRequested = void (*)(uint8_t** buffer, size_t* bytes,
                                      size_t* max_records);
using CuptiBufferCompleted = void (*)(CuContext context, uint32_t stream,
                                      uint8_t* buffer, size_t bytes,
                                      size_t valid_bytes);

// X(member, symbol, parameters)
#define TILEWRIGHT_CUPTI_SYMBOLS(X)                                        \
  X(get_result_string, cuptiGetResultString,                               \
    (CuptiResult result, const char** text))                               \
  X(register_callbacks, cuptiActivityRegisterCallbacks,                    \
    (CuptiBufferRequested requested, CuptiBufferCompleted completed))      \
  X(enable, cuptiActivityEnable, (uint32_t kind))                          \
  X(flush_all, cuptiActivityFlushAll, (uint32_t flag))                     \
  X(next_record, cuptiActivityGetNextRecord,                               \
    (uint8_t * buffer, size_t valid_bytes, CuptiActivity * *record))       \
  X(get_context_id, cuptiGetContextId, (CuContext context, uint32_t * id)) \
  X(get_stream_id, cuptiGetStreamIdEx,                                     \
    (CuContext context, CuStream stream, uint8_t per_thread, uint32_t * id))

struct CuptiApi {
#define TILEWRIGHT_MEMBER(member, symbol, parameters) \
  CuptiResult(*member) parameters = nullptr;
  TILEWRIGHT_CUPTI_SYMBOLS(TILEWRIGHT_MEMBER)
#undef TILEWRIGHT_MEMBER
  std::unique_ptr<backends::SharedLibrary> library;
};

// Opens `path`, or where it is empty CUPTI's usual names and places.
absl::StatusOr<std::unique_ptr<CuptiApi>> OpenCupti(
    const std::string& path = "");

// Unavailable, with CUPTI's text.
absl::Status ToStatus(const CuptiApi& api, CuptiResult result,
                      const std::string& what);

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_CUPTI_API_H_
