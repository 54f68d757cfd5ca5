// The driver's API over the fake device: the symbols of driver_api.h.
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/device/cupti_api.h"
#include "backends/cuda/device/driver_api.h"
#include "backends/cuda/device/fake_device.h"

namespace {

using namespace tilewright::cuda;        // NOLINT: the API implemented here
using namespace tilewright::cuda::fake;  // NOLINT

const auto kContext = reinterpret_cast<CuContext>(&sticky);

constexpr size_t kMostPitchBytes = INT32_MAX;

}  // namespace

TILEWRIGHT_EXPORT CuResult cuInit(unsigned) {
  Log("cuInit");
  TILEWRIGHT_BEGIN("cuInit");
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuDriverGetVersion(int* version) {
  TILEWRIGHT_BEGIN("cuDriverGetVersion");
  *version = 13000;
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuGetErrorName(CuResult error, const char** name) {
  if (error == 998) return kInvalidValue;
  *name = error == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == kOutOfMemory  ? "CUDA_ERROR_OUT_OF_MEMORY"
                                   : "CUDA_ERROR_OF_THE_FAKE";
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuGetErrorString(CuResult error, const char** text) {
  if (error == 998) return kInvalidValue;
  *text = "a text";
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuDeviceGetCount(int* count) {
  TILEWRIGHT_BEGIN("cuDeviceGetCount");
  *count = 1;
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuDeviceGet(CuDevice* device, int ordinal) {
  TILEWRIGHT_BEGIN("cuDeviceGet");
  *device = ordinal;
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuDeviceGetName(char* name, int size, CuDevice) {
  TILEWRIGHT_BEGIN("cuDeviceGetName");
  std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuDeviceGetAttribute(int* value, int attribute,
                                                CuDevice) {
  TILEWRIGHT_BEGIN("cuDeviceGetAttribute");
  static const std::map<int, int> values = {
      {kCuMaxThreadsPerBlock, 1024},
      {kCuWarpSize, 32},
      {kCuMaxRegistersPerBlock, 65536},
      {kCuClockRateKhz, 1'980'000},
      {kCuMultiprocessors, 132},
      {kCuMemoryClockRateKhz, 2'619'000},
      {kCuMemoryBusWidthBits, 5120},
      {kCuL2CacheBytes, 50 << 20},
      {kCuMaxThreadsPerMultiprocessor, 2048},
      {kCuComputeCapabilityMajor, 9},
      {kCuComputeCapabilityMinor, 0},
      {kCuSharedBytesPerMultiprocessor, 228 * 1024},
      {kCuRegistersPerMultiprocessor, 65536},
      {kCuMaxSharedBytesPerBlock, 227 * 1024},
      {kCuMaxBlocksPerMultiprocessor, 32}};
  const auto found = values.find(attribute);
  if (found == values.end()) return kInvalidValue;
  *value = found->second;
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuDeviceTotalMem_v2(size_t* bytes, CuDevice) {
  TILEWRIGHT_BEGIN("cuDeviceTotalMem_v2");
  *bytes = kMemoryBytes;
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuDevicePrimaryCtxRetain(CuContext* context,
                                                    CuDevice) {
  Log("cuDevicePrimaryCtxRetain");
  TILEWRIGHT_BEGIN("cuDevicePrimaryCtxRetain");
  *context = kContext;
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuDevicePrimaryCtxRelease_v2(CuDevice) { return 0; }
TILEWRIGHT_EXPORT CuResult cuCtxSetCurrent(CuContext context) {
  TILEWRIGHT_BEGIN("cuCtxSetCurrent");
  return context == kContext ? 0 : kInvalidValue;
}

TILEWRIGHT_EXPORT CuResult cuMemAlloc_v2(CuAddress* address, size_t bytes) {
  TILEWRIGHT_BEGIN("cuMemAlloc_v2");
  return AllocateMemory(address, bytes);
}
TILEWRIGHT_EXPORT CuResult cuMemFree_v2(CuAddress address) {
  return FreeMemory(address);
}
TILEWRIGHT_EXPORT CuResult cuMemHostAlloc(void** address, size_t bytes,
                                          unsigned) {
  TILEWRIGHT_BEGIN("cuMemHostAlloc");
  return AllocateHostMemory(address, bytes);
}
TILEWRIGHT_EXPORT CuResult cuMemFreeHost(void* address) {
  return FreeHostMemory(address);
}
TILEWRIGHT_EXPORT CuResult cuMemcpyAsync(CuAddress to, CuAddress from,
                                         size_t bytes, CuStream stream) {
  TILEWRIGHT_BEGIN("cuMemcpyAsync");
  if (!OnDevice(to, bytes) && !OnDevice(from, bytes)) return kInvalidValue;
  // What a graph copies from and to must still be there when it is launched.
  for (const CuAddress place : {to, from}) {
    if (!OnDevice(place, bytes) && !IsPinned(place, bytes)) {
      if (const CuResult refused = StreamOf(stream).Refuse()) return refused;
    }
  }
  StreamOf(stream).Enqueue([=] {
    const uint64_t start_ns = NowNs();
    if (sticky == kCuSuccess) {
      std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from),
                   bytes);
    }
    RecordActivity(kCuptiMemcpy, StreamOf(stream).id(), start_ns);
  });
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuMemcpy2DAsync_v2(const CuRowCopy* rows,
                                              CuStream stream) {
  TILEWRIGHT_BEGIN("cuMemcpy2DAsync_v2");
  const CuRowCopy copy = *rows;
  const auto bytes_of = [&](const CuRowCopy::Side& side) {
    return side.pitch_bytes * (copy.height - 1) + copy.width_bytes;
  };
  for (const CuRowCopy::Side& side : {copy.from, copy.to}) {
    if (side.kind != kCuUnified || side.x_bytes != 0 || side.y != 0 ||
        side.pitch_bytes < copy.width_bytes ||
        side.pitch_bytes > kMostPitchBytes)
      return kInvalidValue;
    if (!OnDevice(side.address, bytes_of(side)) &&
        !IsPinned(side.address, bytes_of(side))) {
      if (const CuResult refused = StreamOf(stream).Refuse()) return refused;
    }
  }
  if (!OnDevice(copy.to.address, bytes_of(copy.to)) &&
      !OnDevice(copy.from.address, bytes_of(copy.from)))
    return kInvalidValue;
  StreamOf(stream).Enqueue([=] {
    const uint64_t start_ns = NowNs();
    for (size_t row = 0; sticky == kCuSuccess && row < copy.height; ++row) {
      std::memmove(
          reinterpret_cast<void*>(copy.to.address + row * copy.to.pitch_bytes),
          reinterpret_cast<void*>(copy.from.address +
                                  row * copy.from.pitch_bytes),
          copy.width_bytes);
    }
    RecordActivity(kCuptiMemcpy, StreamOf(stream).id(), start_ns);
  });
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuMemsetD8Async(CuAddress to, unsigned char value,
                                           size_t bytes, CuStream stream) {
  TILEWRIGHT_BEGIN("cuMemsetD8Async");
  if (!OnDevice(to, bytes)) return kInvalidValue;
  StreamOf(stream).Enqueue([=] {
    const uint64_t start_ns = NowNs();
    if (sticky == kCuSuccess) {
      std::memset(reinterpret_cast<void*>(to), value, bytes);
    }
    RecordActivity(kCuptiMemset, StreamOf(stream).id(), start_ns);
  });
  return 0;
}

TILEWRIGHT_EXPORT CuResult cuModuleLoadData(CuModule* module,
                                            const void* image) {
  TILEWRIGHT_BEGIN("cuModuleLoadData");
  std::unique_ptr<FakeModule> loaded =
      LoadImage(static_cast<const char*>(image));
  if (loaded == nullptr) return kInvalidImage;
  *module = reinterpret_cast<CuModule>(loaded.release());
  CountLive(1);
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuModuleUnload(CuModule module) {
  delete reinterpret_cast<FakeModule*>(module);
  CountLive(-1);
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuModuleGetFunction(CuFunction* function,
                                               CuModule module,
                                               const char* name) {
  TILEWRIGHT_BEGIN("cuModuleGetFunction");
  auto& functions = reinterpret_cast<FakeModule*>(module)->functions;
  const auto found = functions.find(name);
  if (found == functions.end()) return kNotFound;
  *function = reinterpret_cast<CuFunction>(&found->second);
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuFuncGetAttribute(int* value, int attribute,
                                              CuFunction function) {
  TILEWRIGHT_BEGIN("cuFuncGetAttribute");
  if (attribute != kCuFunctionMaxThreadsPerBlock) return kInvalidValue;
  *value = reinterpret_cast<FakeFunction*>(function)->threads;
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuFuncSetAttribute(CuFunction function,
                                              int attribute, int value) {
  TILEWRIGHT_BEGIN("cuFuncSetAttribute");
  if (attribute != kCuFunctionMaxDynamicSharedBytes || value > 227 * 1024) {
    return kInvalidValue;
  }
  reinterpret_cast<FakeFunction*>(function)->allowed_shared_bytes = value;
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuLaunchKernel(
    CuFunction handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
    CuStream stream, void** parameters, void**) {
  TILEWRIGHT_BEGIN("cuLaunchKernel");
  const auto& function = *reinterpret_cast<const FakeFunction*>(handle);
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_y != 1 ||
      block_z != 1 || block_x > static_cast<unsigned>(function.threads) ||
      shared_bytes > static_cast<unsigned>(function.allowed_shared_bytes)) {
    return kInvalidValue;
  }
  std::vector<void*> buffers;
  for (int i = 0; i < function.buffers; ++i) {
    buffers.push_back(*static_cast<void**>(parameters[i]));
  }
  SetLastLaunch(grid_x, block_x, shared_bytes);
  StreamOf(stream).Enqueue([=] {
    const uint64_t start_ns = NowNs();
    if (sticky == kCuSuccess) {
      const CuResult result =
          RunBlocks(function, buffers, grid_x, shared_bytes);
      if (result != kCuSuccess) sticky = result;
    }
    RecordActivity(kCuptiConcurrentKernel, StreamOf(stream).id(), start_ns);
  });
  return 0;
}

TILEWRIGHT_EXPORT CuResult cuStreamCreate(CuStream* stream, unsigned) {
  TILEWRIGHT_BEGIN("cuStreamCreate");
  *stream = reinterpret_cast<CuStream>(new FakeStream);
  CountLive(1);
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuStreamDestroy_v2(CuStream stream) {
  delete reinterpret_cast<FakeStream*>(stream);
  CountLive(-1);
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuStreamSynchronize(CuStream stream) {
  TILEWRIGHT_BEGIN("cuStreamSynchronize");
  if (const CuResult refused = StreamOf(stream).Refuse()) return refused;
  StreamOf(stream).Wait();
  return sticky;
}
