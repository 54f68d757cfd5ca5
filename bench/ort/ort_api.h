// The part of ONNX Runtime's C interface that OrtSession calls.
//
// OrtGetApiBase()->GetApi(version) returns a table of function pointers. It
// only ever grows at its end, and the 102 entries of version 1 are guaranteed
// not to move (onnxruntime_c_api.h), so an index is all that is needed.
#ifndef BENCH_ORT_ORT_API_H_
#define BENCH_ORT_ORT_API_H_

#include <cstddef>
#include <cstdint>

namespace tilewright::bench::ort {

// Opaque.
struct Allocator;
struct Env;
struct MemoryInfo;
struct RunOptions;
struct Session;
struct SessionOptions;
struct Status;
struct TensorInfo;
struct Value;

using Table = const void* const*;

struct ApiBase {
  Table (*get_api)(uint32_t version);
  const char* (*get_version_string)();
};
using GetApiBase = const ApiBase* (*)();

inline constexpr uint32_t kApiVersion = 1;

// Enumerators of the interface, as the C type `int` that they are passed as.
inline constexpr int kLogWarning = 2;
inline constexpr int kSequential = 0;
inline constexpr int kAllOptimizations = 99;
inline constexpr int kDeviceAllocator = 0;
inline constexpr int kDefaultMemory = 0;

// A function's place in the table and its type. A null Status is success.
template <int kIndex, typename Signature>
struct Entry {
  static Signature* In(Table table) {
    return reinterpret_cast<Signature*>(const_cast<void*>(table[kIndex]));
  }
};

using GetErrorMessage = Entry<2, const char*(const Status*)>;
using CreateEnv = Entry<3, Status*(int log_level, const char* id, Env**)>;
using CreateSession = Entry<7, Status*(const Env*, const char* path,
                                       const SessionOptions*, Session**)>;
using Run =
    Entry<9,
          Status*(Session*, const RunOptions*, const char* const* in_names,
                  const Value* const* in, size_t in_count,
                  const char* const* out_names, size_t out_count, Value** out)>;
using CreateSessionOptions = Entry<10, Status*(SessionOptions**)>;
using SetExecutionMode = Entry<13, Status*(SessionOptions*, int)>;
using EnableProfiling =
    Entry<14, Status*(SessionOptions*, const char* file_prefix)>;
using SetOptimizationLevel = Entry<23, Status*(SessionOptions*, int)>;
using SetIntraOpThreads = Entry<24, Status*(SessionOptions*, int)>;
using SetInterOpThreads = Entry<25, Status*(SessionOptions*, int)>;
using InputCount = Entry<30, Status*(const Session*, size_t*)>;
using OutputCount = Entry<31, Status*(const Session*, size_t*)>;
using InputName =
    Entry<36, Status*(const Session*, size_t, Allocator*, char**)>;
using OutputName =
    Entry<37, Status*(const Session*, size_t, Allocator*, char**)>;
using CreateTensor = Entry<49, Status*(const MemoryInfo*, void* data,
                                       size_t size_bytes, const int64_t* dims,
                                       size_t rank, int data_type, Value**)>;
using TensorData = Entry<51, Status*(Value*, void**)>;
using ElementType = Entry<60, Status*(const TensorInfo*, int*)>;
using Rank = Entry<61, Status*(const TensorInfo*, size_t*)>;
using Dims = Entry<62, Status*(const TensorInfo*, int64_t*, size_t)>;
using ElementCount = Entry<64, Status*(const TensorInfo*, size_t*)>;
using GetTensorInfo = Entry<65, Status*(const Value*, TensorInfo**)>;
using CpuMemory = Entry<69, Status*(int allocator, int kind, MemoryInfo**)>;
using AllocatorFree = Entry<76, Status*(Allocator*, void*)>;
using DefaultAllocator = Entry<78, Status*(Allocator**)>;
using ReleaseEnv = Entry<92, void(Env*)>;
using ReleaseStatus = Entry<93, void(Status*)>;
using ReleaseMemoryInfo = Entry<94, void(MemoryInfo*)>;
using ReleaseSession = Entry<95, void(Session*)>;
using ReleaseValue = Entry<96, void(Value*)>;
using ReleaseTensorInfo = Entry<99, void(TensorInfo*)>;
using ReleaseSessionOptions = Entry<100, void(SessionOptions*)>;

}  // namespace tilewright::bench::ort

#endif  // BENCH_ORT_ORT_API_H_
