// The state that the fake driver (fake_driver.cc) and the fake profiler
// (fake_cupti.cc) share: a device that is the host's memory and one thread per
// stream. Handles of the API are pointers to these objects.
#ifndef TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_DEVICE_H_
#define TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_DEVICE_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/device/driver_api.h"

#define TILEWRIGHT_EXPORT extern "C" __attribute__((visibility("default")))

// A function of the API begins with it.
#define TILEWRIGHT_BEGIN(symbol)                           \
  if (const int planned = Planned(symbol)) return planned; \
  if (sticky != kCuSuccess) return sticky

namespace tilewright::cuda::fake {

// Values of CUresult.
inline constexpr CuResult kInvalidValue = 1, kOutOfMemory = 2,
                          kInvalidImage = 200, kInvalidHandle = 400,
                          kIllegalState = 401, kNotFound = 500,
                          kIllegalAddress = 700, kAssert = 710,
                          kLaunchFailed = 719, kCaptureUnsupported = 900,
                          kCaptureInvalidated = 901;
inline constexpr int64_t kMemoryBytes = int64_t{8} << 30;
inline constexpr uint32_t kContextId = 7;

// The error that a kernel left in the context; 0 while all is well.
extern std::atomic<CuResult> sticky;

// The result that a test planned for the next call of `symbol`; 0 for none.
int Planned(const char* symbol);
void Log(const char* symbol);  // for CallLog
void CountLive(int difference);
uint64_t NowNs();

// False if there is not so much.
CuResult AllocateMemory(CuAddress* address, size_t bytes);
CuResult FreeMemory(CuAddress address);
// Whether all of it lies in one allocation.
bool OnDevice(CuAddress address, size_t bytes);

// Pinned memory of the host, and whether some of it is.
CuResult AllocateHostMemory(void** address, size_t bytes);
CuResult FreeHostMemory(void* address);
bool IsPinned(CuAddress address, size_t bytes);

struct FakeFunction {
  // Runs one block; a value of CUresult.
  std::function<CuResult(void* const* buffers, int64_t block, void* shared)>
      run;
  int buffers = 0;
  int threads = 0;
  int allowed_shared_bytes = 48 * 1024;
};

struct FakeModule {
  ~FakeModule();
  // Open as long as the object: the linker knows it by the descriptor's name.
  int file = -1;
  void* object = nullptr;
  std::map<std::string, FakeFunction> functions;
};
// As fake_image.h makes them; null if it is none.
std::unique_ptr<FakeModule> LoadImage(const char* image);
// Blocks one after the other, each with undefined shared memory.
CuResult RunBlocks(const FakeFunction& function,
                   const std::vector<void*>& buffers, unsigned blocks,
                   unsigned shared_bytes);
void SetLastLaunch(unsigned blocks, unsigned threads, unsigned shared_bytes);

struct FakeEvent {
  std::mutex mutex;
  std::condition_variable done;
  bool timed = true;
  int64_t recorded = 0, reached = 0;  // how often
  uint64_t time_ns = 0;
};

// What was captured of a stream, in order.
struct FakeGraph {
  std::vector<std::function<void()>> work;
};

// Runs what is enqueued, in order, on a thread of its own.
class FakeStream {
 public:
  FakeStream();
  ~FakeStream();
  // Runs it in its turn, or keeps it for the graph that is captured.
  void Enqueue(std::function<void()> work);
  // What is no part of a graph: an error, which spoils it, in a capture.
  CuResult Refuse();
  void Wait();
  CuResult BeginCapture();
  // Nothing if the capture was spoilt.
  CuResult EndCapture(std::unique_ptr<FakeGraph>& graph);
  uint32_t id() const { return id_; }

 private:
  void Run();

  const uint32_t id_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::unique_ptr<FakeGraph> capture_;
  bool spoilt_ = false;
  bool stop_ = false;
  std::thread thread_;
};
inline FakeStream& StreamOf(CuStream handle) {
  return *reinterpret_cast<FakeStream*>(handle);
}

// For the profiler: something of that kind ended on a stream.
void RecordActivity(uint32_t kind, uint32_t stream, uint64_t start_ns);

}  // namespace tilewright::cuda::fake

#endif  // TILEWRIGHT_BACKENDS_CUDA_DEVICE_FAKE_DEVICE_H_
