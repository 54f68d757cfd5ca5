#include "backends/cuda/device/fake_device.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "backends/cuda/device/fake_driver.h"

namespace tilewright::cuda::fake {

std::atomic<CuResult> sticky{kCuSuccess};

namespace {

constexpr size_t kAlignment = 256;

std::mutex mutex;  // of all below
std::map<std::string, int> fail_next;
std::string call_log, returned_log;
std::map<CuAddress, size_t> allocations, pinned;
size_t allocated_bytes = 0;
int live = 0;
unsigned last_launch[3];

// Whether all of it lies in one of the blocks.
bool IsWithin(const std::map<CuAddress, size_t>& blocks, CuAddress address,
              size_t bytes) {
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin()) return false;
  --next;
  return address + bytes <= next->first + next->second;
}

}  // namespace

int Planned(const char* symbol) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = fail_next.find(symbol);
  if (found == fail_next.end()) return 0;
  const int result = found->second;
  fail_next.erase(found);
  return result;
}

void Log(const char* symbol) {
  std::lock_guard<std::mutex> lock(mutex);
  call_log += std::string(symbol) + " ";
}

void CountLive(int difference) {
  std::lock_guard<std::mutex> lock(mutex);
  live += difference;
}

uint64_t NowNs() {
  return static_cast<uint64_t>(
      std::chrono::steady_clock::now().time_since_epoch().count());
}

CuResult AllocateMemory(CuAddress* address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes == 0) return kInvalidValue;
  if (bytes > static_cast<size_t>(kMemoryBytes) - allocated_bytes) {
    return kOutOfMemory;
  }
  void* memory = std::aligned_alloc(
      kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) return kOutOfMemory;
  *address = reinterpret_cast<CuAddress>(memory);
  allocations[*address] = bytes;
  allocated_bytes += bytes;
  return kCuSuccess;
}

CuResult FreeMemory(CuAddress address) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = allocations.find(address);
  if (found == allocations.end()) return kInvalidValue;
  allocated_bytes -= found->second;
  allocations.erase(found);
  std::free(reinterpret_cast<void*>(address));
  return kCuSuccess;
}

bool OnDevice(CuAddress address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  return IsWithin(allocations, address, bytes);
}

CuResult AllocateHostMemory(void** address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes == 0) return kInvalidValue;
  if (bytes > static_cast<size_t>(kMemoryBytes)) return kOutOfMemory;
  *address = std::aligned_alloc(
      kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (*address == nullptr) return kOutOfMemory;
  pinned[reinterpret_cast<CuAddress>(*address)] = bytes;
  return kCuSuccess;
}

CuResult FreeHostMemory(void* address) {
  std::lock_guard<std::mutex> lock(mutex);
  if (pinned.erase(reinterpret_cast<CuAddress>(address)) == 0)
    return kInvalidValue;
  std::free(address);
  return kCuSuccess;
}

bool IsPinned(CuAddress address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  return IsWithin(pinned, address, bytes);
}

void SetLastLaunch(unsigned blocks, unsigned threads, unsigned shared_bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  last_launch[0] = blocks;
  last_launch[1] = threads;
  last_launch[2] = shared_bytes;
}

namespace {
std::atomic<uint32_t> last_stream_id{12};
}  // namespace

FakeStream::FakeStream() : id_(++last_stream_id), thread_([this] { Run(); }) {}

FakeStream::~FakeStream() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FakeStream::Enqueue(std::function<void()> work) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (capture_ != nullptr) {
    capture_->work.push_back(std::move(work));
    return;
  }
  queue_.push_back(std::move(work));
  changed_.notify_all();
}

CuResult FakeStream::Refuse() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (capture_ == nullptr) return kCuSuccess;
  spoilt_ = true;
  return kCaptureUnsupported;
}

CuResult FakeStream::BeginCapture() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (capture_ != nullptr) return kIllegalState;
  capture_ = std::make_unique<FakeGraph>();
  spoilt_ = false;
  return kCuSuccess;
}

CuResult FakeStream::EndCapture(std::unique_ptr<FakeGraph>& graph) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (capture_ == nullptr) return kIllegalState;
  graph = std::move(capture_);
  if (!spoilt_) return kCuSuccess;
  graph.reset();
  return kCaptureInvalidated;
}

void FakeStream::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty(); });
}

void FakeStream::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    // Stays in the queue until it is done: Wait counts on that.
    const std::function<void()> work = std::move(queue_.front());
    lock.unlock();
    work();
    lock.lock();
    queue_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace tilewright::cuda::fake

using namespace tilewright::cuda::fake;  // NOLINT: what follows is its C side

TILEWRIGHT_EXPORT void FakeCuda_FailNext(const char* symbol, int result) {
  std::lock_guard<std::mutex> lock(mutex);
  fail_next[symbol] = result;
}
TILEWRIGHT_EXPORT const char* FakeCuda_Log() {
  std::lock_guard<std::mutex> lock(mutex);
  returned_log = call_log;
  return returned_log.c_str();
}
TILEWRIGHT_EXPORT int FakeCuda_Live() {
  std::lock_guard<std::mutex> lock(mutex);
  return live + static_cast<int>(allocations.size() + pinned.size());
}
TILEWRIGHT_EXPORT void FakeCuda_Heal() { sticky = 0; }
TILEWRIGHT_EXPORT void FakeCuda_LastLaunch(int* blocks, int* threads,
                                           int* shared_bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  *blocks = static_cast<int>(last_launch[0]);
  *threads = static_cast<int>(last_launch[1]);
  *shared_bytes = static_cast<int>(last_launch[2]);
}
