// What orders work of the fake device, and repeats it: events and graphs.
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "backends/cuda/device/driver_api.h"
#include "backends/cuda/device/fake_device.h"

namespace {

using namespace tilewright::cuda;        // NOLINT: the API implemented here
using namespace tilewright::cuda::fake;  // NOLINT

// An event may be destroyed before it happens: the handle is a reference.
using EventReference = std::shared_ptr<FakeEvent>;
EventReference EventOf(CuEvent handle) {
  return *reinterpret_cast<EventReference*>(handle);
}

// Until it is reached as often as `times`.
void WaitUntilReached(FakeEvent& event, int64_t times) {
  std::unique_lock<std::mutex> lock(event.mutex);
  event.done.wait(lock, [&] { return event.reached >= times; });
}
int64_t TimesRecorded(FakeEvent& event) {
  std::lock_guard<std::mutex> lock(event.mutex);
  return event.recorded;
}

}  // namespace

TILEWRIGHT_EXPORT CuResult cuEventCreate(CuEvent* event, unsigned flags) {
  TILEWRIGHT_BEGIN("cuEventCreate");
  auto created = std::make_shared<FakeEvent>();
  created->timed = flags != kCuEventDisableTiming;
  *event = reinterpret_cast<CuEvent>(new EventReference(std::move(created)));
  CountLive(1);
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuEventDestroy_v2(CuEvent handle) {
  delete reinterpret_cast<EventReference*>(handle);
  CountLive(-1);
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuEventRecord(CuEvent handle, CuStream stream) {
  TILEWRIGHT_BEGIN("cuEventRecord");
  if (const CuResult refused = StreamOf(stream).Refuse()) return refused;
  const EventReference event = EventOf(handle);
  {
    std::lock_guard<std::mutex> lock(event->mutex);
    ++event->recorded;
  }
  StreamOf(stream).Enqueue([event] {
    std::lock_guard<std::mutex> lock(event->mutex);
    event->time_ns = NowNs();
    ++event->reached;
    event->done.notify_all();
  });
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuEventSynchronize(CuEvent handle) {
  TILEWRIGHT_BEGIN("cuEventSynchronize");
  const EventReference event = EventOf(handle);
  WaitUntilReached(*event, TimesRecorded(*event));
  return sticky;
}
TILEWRIGHT_EXPORT CuResult cuEventElapsedTime(float* milliseconds,
                                              CuEvent start, CuEvent end) {
  TILEWRIGHT_BEGIN("cuEventElapsedTime");
  if (!EventOf(start)->timed || !EventOf(end)->timed) return kInvalidHandle;
  *milliseconds =
      static_cast<float>(EventOf(end)->time_ns - EventOf(start)->time_ns) *
      1e-6f;
  return 0;
}
// The driver does not wait for an event that nobody recorded; this is an error
// here, for who waits means to.
TILEWRIGHT_EXPORT CuResult cuStreamWaitEvent(CuStream stream, CuEvent handle,
                                             unsigned) {
  TILEWRIGHT_BEGIN("cuStreamWaitEvent");
  if (const CuResult refused = StreamOf(stream).Refuse()) return refused;
  const EventReference event = EventOf(handle);
  const int64_t times = TimesRecorded(*event);
  if (times == 0) return kInvalidValue;
  StreamOf(stream).Enqueue([event, times] { WaitUntilReached(*event, times); });
  return 0;
}

TILEWRIGHT_EXPORT CuResult cuStreamBeginCapture_v2(CuStream stream, int mode) {
  TILEWRIGHT_BEGIN("cuStreamBeginCapture");
  if (mode != kCuCaptureThreadLocal) return kInvalidValue;
  return StreamOf(stream).BeginCapture();
}
TILEWRIGHT_EXPORT CuResult cuStreamEndCapture(CuStream stream, CuGraph* graph) {
  std::unique_ptr<FakeGraph> captured;
  const CuResult result = StreamOf(stream).EndCapture(captured);
  *graph = nullptr;
  TILEWRIGHT_BEGIN("cuStreamEndCapture");
  if (result != kCuSuccess) return result;
  *graph = reinterpret_cast<CuGraph>(captured.release());
  CountLive(1);
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuGraphInstantiateWithFlags(CuGraphExec* exec,
                                                       CuGraph graph,
                                                       unsigned long long) {
  TILEWRIGHT_BEGIN("cuGraphInstantiateWithFlags");
  if (graph == nullptr) return kInvalidValue;
  *exec = reinterpret_cast<CuGraphExec>(
      new FakeGraph(*reinterpret_cast<FakeGraph*>(graph)));
  CountLive(1);
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuGraphLaunch(CuGraphExec exec, CuStream stream) {
  TILEWRIGHT_BEGIN("cuGraphLaunch");
  for (const auto& work : reinterpret_cast<FakeGraph*>(exec)->work)
    StreamOf(stream).Enqueue(work);
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuGraphExecDestroy(CuGraphExec exec) {
  delete reinterpret_cast<FakeGraph*>(exec);
  CountLive(-1);
  return 0;
}
TILEWRIGHT_EXPORT CuResult cuGraphDestroy(CuGraph graph) {
  delete reinterpret_cast<FakeGraph*>(graph);
  CountLive(-1);
  return 0;
}
