// The part of the CUDA driver API that the device needs, declared here and
// resolved at run time: nothing of NVIDIA's is needed to build. Names and
// meanings are those of the driver API's documentation; the symbols are the
// versions that every driver since CUDA 11.4 exports.
#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_DRIVER_API_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_DRIVER_API_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/shared_library.h"

namespace tilewright::cuda {

using CuResult = int;
using CuDevice = int;
using CuAddress = uint64_t;
using CuContext = struct CuContextHandle*;
using CuModule = struct CuModuleHandle*;
using CuFunction = struct CuFunctionHandle*;
using CuStream = struct CuStreamHandle*;
using CuEvent = struct CuEventHandle*;
using CuGraph = struct CuGraphHandle*;
using CuGraphExec = struct CuGraphExecHandle*;

inline constexpr CuResult kCuSuccess = 0;

// CUDA_MEMCPY2D: `height` rows of `width_bytes`. Memory of kind kCuUnified is
// found by its address; hosts and arrays are not used.
struct CuRowCopy {
  struct Side {
    size_t x_bytes = 0, y = 0;
    int kind = 0;  // CUmemorytype
    void* host = nullptr;
    CuAddress address = 0;
    void* array = nullptr;
    size_t pitch_bytes = 0;
  };
  Side from, to;
  size_t width_bytes = 0, height = 0;
};
inline constexpr int kCuUnified = 4;

// Values of CUdevice_attribute.
enum CuDeviceAttribute : int {
  kCuMaxThreadsPerBlock = 1,
  kCuWarpSize = 10,
  kCuMaxRegistersPerBlock = 12,
  kCuClockRateKhz = 13,
  kCuMultiprocessors = 16,
  kCuMemoryClockRateKhz = 36,
  kCuMemoryBusWidthBits = 37,
  kCuL2CacheBytes = 38,
  kCuMaxThreadsPerMultiprocessor = 39,
  kCuComputeCapabilityMajor = 75,
  kCuComputeCapabilityMinor = 76,
  kCuSharedBytesPerMultiprocessor = 81,
  kCuRegistersPerMultiprocessor = 82,
  kCuMaxSharedBytesPerBlock = 97,  // if the kernel opts in
  kCuMaxBlocksPerMultiprocessor = 106,
};

// Values of CUfunction_attribute.
enum CuFunctionAttribute : int {
  kCuFunctionMaxThreadsPerBlock = 0,
  kCuFunctionMaxDynamicSharedBytes = 8,
};

// Flags of cuStreamCreate and cuEventCreate.
inline constexpr unsigned kCuStreamNonBlocking = 1;
inline constexpr unsigned kCuEventDefault = 0;
inline constexpr unsigned kCuEventDisableTiming = 2;
// Of cuStreamBeginCapture: other threads may do what they like meanwhile.
inline constexpr int kCuCaptureThreadLocal = 1;

// X(member, symbol, parameters)
#define TILEWRIGHT_CUDA_DRIVER_SYMBOLS(X)                                      \
  X(init, cuInit, (unsigned flags))                                            \
  X(driver_get_version, cuDriverGetVersion, (int* version))                    \
  X(get_error_name, cuGetErrorName, (CuResult error, const char** name))       \
  X(get_error_string, cuGetErrorString, (CuResult error, const char** text))   \
  X(device_get_count, cuDeviceGetCount, (int* count))                          \
  X(device_get, cuDeviceGet, (CuDevice * device, int ordinal))                 \
  X(device_get_name, cuDeviceGetName, (char* name, int size, CuDevice device)) \
  X(device_get_attribute, cuDeviceGetAttribute,                                \
    (int* value, int attribute, CuDevice device))                              \
  X(device_total_memory, cuDeviceTotalMem_v2,                                  \
    (size_t * bytes, CuDevice device))                                         \
  X(primary_context_retain, cuDevicePrimaryCtxRetain,                          \
    (CuContext * context, CuDevice device))                                    \
  X(primary_context_release, cuDevicePrimaryCtxRelease_v2, (CuDevice device))  \
  X(context_set_current, cuCtxSetCurrent, (CuContext context))                 \
  X(memory_allocate, cuMemAlloc_v2, (CuAddress * address, size_t bytes))       \
  X(memory_free, cuMemFree_v2, (CuAddress address))                            \
  X(memory_host_allocate, cuMemHostAlloc,                                      \
    (void** address, size_t bytes, unsigned flags))                            \
  X(memory_host_free, cuMemFreeHost, (void* address))                          \
  X(memory_copy_async, cuMemcpyAsync,                                          \
    (CuAddress to, CuAddress from, size_t bytes, CuStream stream))             \
  X(memory_copy_rows_async, cuMemcpy2DAsync_v2,                                \
    (const CuRowCopy* copy, CuStream stream))                                  \
  X(memory_set_async, cuMemsetD8Async,                                         \
    (CuAddress to, unsigned char value, size_t bytes, CuStream stream))        \
  X(module_load, cuModuleLoadData, (CuModule * module, const void* image))     \
  X(module_unload, cuModuleUnload, (CuModule module))                          \
  X(module_get_function, cuModuleGetFunction,                                  \
    (CuFunction * function, CuModule module, const char* name))                \
  X(function_get_attribute, cuFuncGetAttribute,                                \
    (int* value, int attribute, CuFunction function))                          \
  X(function_set_attribute, cuFuncSetAttribute,                                \
    (CuFunction function, int attribute, int value))                           \
  X(launch_kernel, cuLaunchKernel,                                             \
    (CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,   \
     unsigned block_x, unsigned block_y, unsigned block_z,                     \
     unsigned shared_bytes, CuStream stream, void** parameters, void** extra)) \
  X(stream_create, cuStreamCreate, (CuStream * stream, unsigned flags))        \
  X(stream_destroy, cuStreamDestroy_v2, (CuStream stream))                     \
  X(stream_synchronize, cuStreamSynchronize, (CuStream stream))                \
  X(stream_wait_event, cuStreamWaitEvent,                                      \
    (CuStream stream, CuEvent event, unsigned flags))                          \
  X(stream_begin_capture, cuStreamBeginCapture_v2,                             \
    (CuStream stream, int mode))                                               \
  X(stream_end_capture, cuStreamEndCapture,                                    \
    (CuStream stream, CuGraph * graph))                                        \
  X(graph_instantiate, cuGraphInstantiateWithFlags,                            \
    (CuGraphExec * exec, CuGraph graph, unsigned long long flags))             \
  X(graph_launch, cuGraphLaunch, (CuGraphExec exec, CuStream stream))          \
  X(graph_exec_destroy, cuGraphExecDestroy, (CuGraphExec exec))                \
  X(graph_destroy, cuGraphDestroy, (CuGraph graph))                            \
  X(event_create, cuEventCreate, (CuEvent * event, unsigned flags))            \
  X(event_destroy, cuEventDestroy_v2, (CuEvent event))                         \
  X(event_record, cuEventRecord, (CuEvent event, CuStream stream))             \
  X(event_synchronize, cuEventSynchronize, (CuEvent event))                    \
  X(event_elapsed_time, cuEventElapsedTime,                                    \
    (float* milliseconds, CuEvent start, CuEvent end))

struct DriverApi {
#define TILEWRIGHT_MEMBER(member, symbol, parameters) \
  CuResult(*member) parameters = nullptr;
  TILEWRIGHT_CUDA_DRIVER_SYMBOLS(TILEWRIGHT_MEMBER)
#undef TILEWRIGHT_MEMBER
  std::unique_ptr<backends::SharedLibrary> library;
};

// Opens `path`, or where it is empty the driver's usual names. Calls nothing:
// cuInit is the caller's. FailedPrecondition: no driver, or an older one.
absl::StatusOr<std::shared_ptr<const DriverApi>> OpenDriver(
    const std::string& path = "");

}  // namespace tilewright::cuda

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_DRIVER_API_H_
