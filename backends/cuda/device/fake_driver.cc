// A driver and a profiler for tests, as one shared object: they export the
// symbols of driver_api.h and cupti_api.h, and the device is the host's memory
// and one thread per stream. Handles are pointers to the objects below.
#include "backends/cuda/device/fake_driver.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "backends/cpu/kernel_abi.h"
#include "backends/cuda/device/cupti_api.h"
#include "backends/cuda/device/driver_api.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace tilewright::cuda;  // NOLINT: the API implemented here
using tilewright::cpu::KernelArgs;
using tilewright::cpu::KernelFunction;

constexpr CuResult kInvalidValue = 1, kOutOfMemory = 2, kInvalidImage = 200,
                   kNotFound = 500, kIllegalAddress = 700, kAssert = 710,
                   kLaunchFailed = 719;
constexpr int64_t kMemoryBytes = int64_t{8} << 30;
constexpr int64_t kAlignment = 256;
constexpr int kContextId = 7;

std::mutex mutex;  // of all below
std::map<std::string, int> fail_next;
std::string call_log, last_log;
std::map<CuAddress, size_t> allocations;
int64_t allocated_bytes = 0;
int live = 0;
int last_launch[3];
std::atomic<CuResult> sticky{kCuSuccess};
bool profiling = false;
CuptiBufferRequested buffer_requested;
CuptiBufferCompleted buffer_completed;
std::string records;  // not delivered yet

uint64_t NowNs() {
  return static_cast<uint64_t>(
      std::chrono::steady_clock::now().time_since_epoch().count());
}

// What a call returns before it does anything; 0 to go on.
int Planned(const char* symbol) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = fail_next.find(symbol);
  if (found == fail_next.end()) return 0;
  const int result = found->second;
  fail_next.erase(found);
  return result;
}
#define BEGIN(symbol)                                      \
  if (const int planned = Planned(symbol)) return planned; \
  if (sticky != kCuSuccess) return sticky

void Log(const char* name) {
  std::lock_guard<std::mutex> lock(mutex);
  call_log += std::string(name) + " ";
}

struct FakeFunction {
  KernelFunction function = nullptr;
  int buffers = 0;
  int threads = 0;
  int allowed_shared_bytes = 48 * 1024;
};

struct FakeModule {
  ~FakeModule() {
    if (object != nullptr) dlclose(object);
    if (file >= 0) close(file);
  }
  // Open as long as the object: the linker knows it by the descriptor's name.
  int file = -1;
  void* object = nullptr;
  std::map<std::string, FakeFunction> functions;
};

struct FakeEvent {
  std::condition_variable done;
  int pending = 0;
  uint64_t time_ns = 0;
};

// Runs what is enqueued, in order, on a thread of its own.
class FakeStream {
 public:
  FakeStream() : id_(++last_id_), thread_([this] { Run(); }) {}
  ~FakeStream() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void Enqueue(std::function<void()> work) {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(work));
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return queue_.empty(); });
  }
  uint32_t id() const { return id_; }

 private:
  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
      if (queue_.empty()) return;
      lock.unlock();
      queue_.front()();  // deque: push_back leaves it in place
      lock.lock();
      queue_.pop_front();
      changed_.notify_all();
    }
  }

  static std::atomic<uint32_t> last_id_;
  const uint32_t id_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stop_ = false;
  std::thread thread_;
};
std::atomic<uint32_t> FakeStream::last_id_{12};

template <typename Handle>
FakeStream& StreamOf(Handle handle) {
  return *reinterpret_cast<FakeStream*>(handle);
}

template <typename Activity>
void Record(uint32_t kind, uint32_t stream, uint64_t start_ns) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!profiling) return;
  Activity activity = {};
  activity.kind = kind;
  activity.start_ns = start_ns;
  activity.end_ns = NowNs();
  activity.context = kContextId;
  activity.stream = stream;
  records.append(reinterpret_cast<const char*>(&activity), sizeof(activity));
}

// Whether all of it lies in one allocation.
bool OnDevice(CuAddress address, size_t bytes) {
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin()) return false;
  --next;
  return address + bytes <= next->first + next->second;
}

int32_t FakeAdd(const KernelArgs* args, int64_t begin, int64_t end, void*) {
  auto* const* buffers = reinterpret_cast<float* const*>(args->buffers);
  for (int64_t i = begin; i < end; ++i) {
    buffers[2][i] = buffers[0][i] + buffers[1][i];
  }
  return 0;
}
int32_t FakeFault(const KernelArgs*, int64_t, int64_t, void*) {
  return kIllegalAddress;
}
int32_t FakeAssert(const KernelArgs*, int64_t, int64_t, void*) {
  return kAssert;
}
int32_t FakeHang(const KernelArgs* args, int64_t, int64_t, void*) {
  std::this_thread::sleep_for(
      std::chrono::milliseconds(*static_cast<const int*>(args->buffers[0])));
  return 0;
}

KernelFunction BuiltIn(const std::string& name) {
  if (name == "fake_add") return FakeAdd;
  if (name == "fake_fault") return FakeFault;
  if (name == "fake_assert") return FakeAssert;
  if (name == "fake_hang_ms") return FakeHang;
  return nullptr;
}

// As the driver: the size follows from the headers.
size_t ElfBytes(const char* image, const Elf64_Ehdr& header) {
  size_t size = header.e_shoff + size_t{header.e_shnum} * sizeof(Elf64_Shdr);
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + i * sizeof(section),
                sizeof(section));
    if (section.sh_type != SHT_NOBITS) {
      size = std::max<size_t>(size, section.sh_offset + section.sh_size);
    }
  }
  return size;
}

void OpenElf(std::string bytes, FakeModule& module) {
  const uint16_t machine = EM_X86_64;
  std::memcpy(&bytes[offsetof(Elf64_Ehdr, e_machine)], &machine,
              sizeof(machine));
  module.file = memfd_create("fake_module", MFD_CLOEXEC);
  if (write(module.file, bytes.data(), bytes.size()) ==
      static_cast<ssize_t>(bytes.size())) {
    module.object =
        dlopen(("/proc/self/fd/" + std::to_string(module.file)).c_str(),
               RTLD_NOW | RTLD_LOCAL);
  }
}

// The blocks one after the other; the driver's result of the worst one.
CuResult RunBlocks(const FakeFunction& function,
                   const std::vector<void*>& buffers, unsigned blocks,
                   unsigned shared_bytes) {
  const size_t scratch_bytes = (shared_bytes + 64 + 63) / 64 * 64;
  void* const scratch = std::aligned_alloc(64, scratch_bytes);
  const KernelArgs args = {buffers.data(), nullptr};
  int32_t worst = 0;
  for (unsigned block = 0; block < blocks; ++block) {
    std::memset(scratch, 0xff, scratch_bytes);  // undefined, of each block
    worst =
        std::max(worst, function.function(&args, block, block + 1, scratch));
  }
  std::free(scratch);
  if (worst == 0) return kCuSuccess;
  return worst < 100 ? kLaunchFailed : worst;
}

}  // namespace

EXPORT void FakeCuda_FailNext(const char* symbol, int result) {
  std::lock_guard<std::mutex> lock(mutex);
  fail_next[symbol] = result;
}
EXPORT const char* FakeCuda_Log() {
  std::lock_guard<std::mutex> lock(mutex);
  last_log = call_log;
  return last_log.c_str();
}
EXPORT int FakeCuda_Live() {
  std::lock_guard<std::mutex> lock(mutex);
  return live + static_cast<int>(allocations.size());
}
EXPORT void FakeCuda_Heal() { sticky = kCuSuccess; }
EXPORT void FakeCuda_LastLaunch(int* blocks, int* threads, int* shared_bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  *blocks = last_launch[0];
  *threads = last_launch[1];
  *shared_bytes = last_launch[2];
}

EXPORT CuResult cuInit(unsigned) {
  Log("cuInit");
  BEGIN("cuInit");
  return 0;
}
EXPORT CuResult cuDriverGetVersion(int* version) {
  BEGIN("cuDriverGetVersion");
  *version = 13000;
  return 0;
}
EXPORT CuResult cuGetErrorName(CuResult error, const char** name) {
  if (error == 998) return kInvalidValue;
  *name = error == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == kOutOfMemory  ? "CUDA_ERROR_OUT_OF_MEMORY"
                                   : "CUDA_ERROR_OF_THE_FAKE";
  return 0;
}
EXPORT CuResult cuGetErrorString(CuResult error, const char** text) {
  if (error == 998) return kInvalidValue;
  *text = "a text";
  return 0;
}
EXPORT CuResult cuDeviceGetCount(int* count) {
  BEGIN("cuDeviceGetCount");
  *count = 1;
  return 0;
}
EXPORT CuResult cuDeviceGet(CuDevice* device, int ordinal) {
  BEGIN("cuDeviceGet");
  *device = ordinal;
  return 0;
}
EXPORT CuResult cuDeviceGetName(char* name, int size, CuDevice) {
  BEGIN("cuDeviceGetName");
  std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
  return 0;
}
EXPORT CuResult cuDeviceGetAttribute(int* value, int attribute, CuDevice) {
  BEGIN("cuDeviceGetAttribute");
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
EXPORT CuResult cuDeviceTotalMem_v2(size_t* bytes, CuDevice) {
  BEGIN("cuDeviceTotalMem_v2");
  *bytes = kMemoryBytes;
  return 0;
}
EXPORT CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice) {
  Log("cuDevicePrimaryCtxRetain");
  BEGIN("cuDevicePrimaryCtxRetain");
  *context = reinterpret_cast<CuContext>(&mutex);
  return 0;
}
EXPORT CuResult cuDevicePrimaryCtxRelease_v2(CuDevice) { return 0; }
EXPORT CuResult cuCtxSetCurrent(CuContext context) {
  BEGIN("cuCtxSetCurrent");
  return context == reinterpret_cast<CuContext>(&mutex) ? 0 : kInvalidValue;
}

EXPORT CuResult cuMemAlloc_v2(CuAddress* address, size_t bytes) {
  BEGIN("cuMemAlloc_v2");
  if (bytes == 0) return kInvalidValue;
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes > static_cast<size_t>(kMemoryBytes - allocated_bytes)) {
    return kOutOfMemory;
  }
  void* memory = std::aligned_alloc(
      kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) return kOutOfMemory;
  *address = reinterpret_cast<CuAddress>(memory);
  allocations[*address] = bytes;
  allocated_bytes += static_cast<int64_t>(bytes);
  return 0;
}
EXPORT CuResult cuMemFree_v2(CuAddress address) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = allocations.find(address);
  if (found == allocations.end()) return kInvalidValue;
  allocated_bytes -= static_cast<int64_t>(found->second);
  allocations.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
EXPORT CuResult cuMemcpyAsync(CuAddress to, CuAddress from, size_t bytes,
                              CuStream stream) {
  BEGIN("cuMemcpyAsync");
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!OnDevice(to, bytes) && !OnDevice(from, bytes)) return kInvalidValue;
  }
  StreamOf(stream).Enqueue([=] {
    const uint64_t start_ns = NowNs();
    if (sticky == kCuSuccess) {
      std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from),
                   bytes);
    }
    Record<CuptiCopyActivity>(kCuptiMemcpy, StreamOf(stream).id(), start_ns);
  });
  return 0;
}
EXPORT CuResult cuMemsetD8Async(CuAddress to, unsigned char value, size_t bytes,
                                CuStream stream) {
  BEGIN("cuMemsetD8Async");
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!OnDevice(to, bytes)) return kInvalidValue;
  }
  StreamOf(stream).Enqueue([=] {
    const uint64_t start_ns = NowNs();
    if (sticky == kCuSuccess) {
      std::memset(reinterpret_cast<void*>(to), value, bytes);
    }
    Record<CuptiCopyActivity>(kCuptiMemset, StreamOf(stream).id(), start_ns);
  });
  return 0;
}

EXPORT CuResult cuModuleLoadData(CuModule* module, const void* image) {
  BEGIN("cuModuleLoadData");
  const char* const bytes = static_cast<const char*>(image);
  Elf64_Ehdr header;
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0) return kInvalidImage;
  std::memcpy(&header, bytes, sizeof(header));
  const size_t size = ElfBytes(bytes, header);
  auto loaded = std::make_unique<FakeModule>();
  if (header.e_phnum > 0) {
    OpenElf(std::string(bytes, size), *loaded);
    if (loaded->object == nullptr) return kInvalidImage;
  }
  std::istringstream lines(bytes + size);
  std::string name;
  while (lines >> name && name != "end") {
    FakeFunction function;
    lines >> function.buffers >> function.threads;
    function.function = loaded->object != nullptr
                            ? reinterpret_cast<KernelFunction>(
                                  dlsym(loaded->object, name.c_str()))
                            : BuiltIn(name);
    if (function.function != nullptr) loaded->functions[name] = function;
  }
  if (name != "end") return kInvalidImage;
  *module = reinterpret_cast<CuModule>(loaded.release());
  std::lock_guard<std::mutex> lock(mutex);
  ++live;
  return 0;
}
EXPORT CuResult cuModuleUnload(CuModule module) {
  delete reinterpret_cast<FakeModule*>(module);
  std::lock_guard<std::mutex> lock(mutex);
  --live;
  return 0;
}
EXPORT CuResult cuModuleGetFunction(CuFunction* function, CuModule module,
                                    const char* name) {
  BEGIN("cuModuleGetFunction");
  auto& functions = reinterpret_cast<FakeModule*>(module)->functions;
  const auto found = functions.find(name);
  if (found == functions.end()) return kNotFound;
  *function = reinterpret_cast<CuFunction>(&found->second);
  return 0;
}
EXPORT CuResult cuFuncGetAttribute(int* value, int attribute,
                                   CuFunction function) {
  BEGIN("cuFuncGetAttribute");
  if (attribute != kCuFunctionMaxThreadsPerBlock) return kInvalidValue;
  *value = reinterpret_cast<FakeFunction*>(function)->threads;
  return 0;
}
EXPORT CuResult cuFuncSetAttribute(CuFunction function, int attribute,
                                   int value) {
  BEGIN("cuFuncSetAttribute");
  if (attribute != kCuFunctionMaxDynamicSharedBytes || value > 227 * 1024) {
    return kInvalidValue;
  }
  reinterpret_cast<FakeFunction*>(function)->allowed_shared_bytes = value;
  return 0;
}
EXPORT CuResult cuLaunchKernel(CuFunction handle, unsigned grid_x,
                               unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared_bytes,
                               CuStream stream, void** parameters, void**) {
  BEGIN("cuLaunchKernel");
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
  {
    std::lock_guard<std::mutex> lock(mutex);
    last_launch[0] = static_cast<int>(grid_x);
    last_launch[1] = static_cast<int>(block_x);
    last_launch[2] = static_cast<int>(shared_bytes);
  }
  StreamOf(stream).Enqueue([=] {
    const uint64_t start_ns = NowNs();
    if (sticky == kCuSuccess) {
      const CuResult result =
          RunBlocks(function, buffers, grid_x, shared_bytes);
      if (result != kCuSuccess) sticky = result;
    }
    Record<CuptiKernelActivity>(kCuptiConcurrentKernel, StreamOf(stream).id(),
                                start_ns);
  });
  return 0;
}

EXPORT CuResult cuStreamCreate(CuStream* stream, unsigned) {
  BEGIN("cuStreamCreate");
  *stream = reinterpret_cast<CuStream>(new FakeStream);
  std::lock_guard<std::mutex> lock(mutex);
  ++live;
  return 0;
}
EXPORT CuResult cuStreamDestroy_v2(CuStream stream) {
  delete reinterpret_cast<FakeStream*>(stream);
  std::lock_guard<std::mutex> lock(mutex);
  --live;
  return 0;
}
EXPORT CuResult cuStreamSynchronize(CuStream stream) {
  BEGIN("cuStreamSynchronize");
  StreamOf(stream).Wait();
  return sticky;
}
EXPORT CuResult cuEventCreate(CuEvent* event, unsigned) {
  BEGIN("cuEventCreate");
  *event = reinterpret_cast<CuEvent>(new FakeEvent);
  std::lock_guard<std::mutex> lock(mutex);
  ++live;
  return 0;
}
EXPORT CuResult cuEventDestroy_v2(CuEvent handle) {
  delete reinterpret_cast<FakeEvent*>(handle);
  std::lock_guard<std::mutex> lock(mutex);
  --live;
  return 0;
}
EXPORT CuResult cuEventRecord(CuEvent handle, CuStream stream) {
  BEGIN("cuEventRecord");
  auto* const event = reinterpret_cast<FakeEvent*>(handle);
  {
    std::lock_guard<std::mutex> lock(mutex);
    ++event->pending;
  }
  StreamOf(stream).Enqueue([event] {
    std::lock_guard<std::mutex> lock(mutex);
    event->time_ns = NowNs();
    --event->pending;
    event->done.notify_all();
  });
  return 0;
}
EXPORT CuResult cuEventSynchronize(CuEvent handle) {
  BEGIN("cuEventSynchronize");
  auto* const event = reinterpret_cast<FakeEvent*>(handle);
  std::unique_lock<std::mutex> lock(mutex);
  event->done.wait(lock, [event] { return event->pending == 0; });
  return sticky;
}
EXPORT CuResult cuEventElapsedTime(float* milliseconds, CuEvent start,
                                   CuEvent end) {
  BEGIN("cuEventElapsedTime");
  *milliseconds =
      static_cast<float>(reinterpret_cast<FakeEvent*>(end)->time_ns -
                         reinterpret_cast<FakeEvent*>(start)->time_ns) *
      1e-6f;
  return 0;
}

EXPORT CuptiResult cuptiGetResultString(CuptiResult, const char** text) {
  *text = "a text of the fake profiler";
  return 0;
}
EXPORT CuptiResult cuptiActivityRegisterCallbacks(
    CuptiBufferRequested requested, CuptiBufferCompleted completed) {
  Log("cuptiActivityRegisterCallbacks");
  if (const int planned = Planned("cuptiActivityRegisterCallbacks")) {
    return planned;
  }
  buffer_requested = requested;
  buffer_completed = completed;
  return 0;
}
EXPORT CuptiResult cuptiActivityEnable(uint32_t) {
  Log("cuptiActivityEnable");
  if (const int planned = Planned("cuptiActivityEnable")) return planned;
  std::lock_guard<std::mutex> lock(mutex);
  profiling = true;
  return 0;
}
EXPORT CuptiResult cuptiActivityFlushAll(uint32_t) {
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
    static_assert(sizeof(CuptiKernelActivity) % 8 == 0 &&
                  sizeof(CuptiCopyActivity) % 8 == 0);
    size_t fit = 0;
    while (sent + fit < ready.size()) {
      CuptiActivity record;
      std::memcpy(&record, &ready[sent + fit], sizeof(record));
      const size_t size = record.kind == kCuptiConcurrentKernel
                              ? sizeof(CuptiKernelActivity)
                              : sizeof(CuptiCopyActivity);
      if (fit + size > bytes) break;
      fit += size;
    }
    std::memcpy(buffer, &ready[sent], fit);
    buffer_completed(nullptr, 0, buffer, bytes, fit);
    sent += fit;
  }
  return 0;
}
EXPORT CuptiResult cuptiActivityGetNextRecord(uint8_t* buffer,
                                              size_t valid_bytes,
                                              CuptiActivity** record) {
  auto* next = buffer;
  if (*record != nullptr) {
    next =
        reinterpret_cast<uint8_t*>(*record) +
        ((*record)->kind == kCuptiConcurrentKernel ? sizeof(CuptiKernelActivity)
                                                   : sizeof(CuptiCopyActivity));
  }
  if (next >= buffer + valid_bytes) return kCuptiMaxLimitReached;
  *record = reinterpret_cast<CuptiActivity*>(next);
  return 0;
}
EXPORT CuptiResult cuptiGetContextId(CuContext, uint32_t* id) {
  *id = kContextId;
  return 0;
}
EXPORT CuptiResult cuptiGetStreamIdEx(CuContext, CuStream stream, uint8_t,
                                      uint32_t* id) {
  *id = StreamOf(stream).id();
  return 0;
}
