// The device half of a backend: memory, modules, launches, time. No IR: whoever
// has module bytes and knows the kernel ABI can use it.
#ifndef TILEWRIGHT_BACKENDS_DEVICE_H_
#define TILEWRIGHT_BACKENDS_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/spec/device_spec.pb.h"

namespace tilewright::backends {

// Device memory, 64-byte aligned and padded to a multiple of 64 bytes; freed
// with the object.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  virtual int64_t size_bytes() const = 0;
  // The address kernels see. On devices with unified memory (cpu) also the
  // host's.
  virtual void* address() const = 0;
};

class DeviceModule {
 public:
  virtual ~DeviceModule() = default;
};

// A resolved launch, free of name lookup, for launch plans that run many times.
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
};

// The clock that a time was taken with: thread CPU time, device events, ... and
// wall clock.
enum class TimerMethod : uint8_t {
  kThreadCpuTime,
  kProfilerActivity,
  kDeviceEvents,
  kWallClock
};

// One launch: tasks [0, num_tasks) of a kernel over buffers, each running
// thread with that much scratch.
struct KernelLaunch {
  const DeviceKernel* kernel = nullptr;
  absl::Span<void* const> args;
  int64_t num_tasks = 0;
  int64_t scratch_bytes = 0;
  double one_thread_ns = 0;  // about, of all tasks; 0: not known
};

// What was enqueued on a stream once, to be enqueued again at once. Belongs to
// the stream that captured it, which must outlive it, as must all kernels and
// buffers in it.
class CapturedWork {
 public:
  virtual ~CapturedWork() = default;
};

// In-order queue of launches and copies. Not thread-safe; use one per thread.
// Errors of asynchronous work arrive at Synchronize.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual absl::Status Launch(const DeviceKernel& kernel,
                              absl::Span<void* const> args, int64_t num_tasks,
                              int64_t scratch_bytes) = 0;
  // Launches of which none reads or writes what another writes: they may run
  // at the same time. One after the other unless a device does better.
  virtual absl::Status LaunchTogether(absl::Span<const KernelLaunch> launches) {
    for (const KernelLaunch& launch : launches) {
      absl::Status status = Launch(*launch.kernel, launch.args,
                                   launch.num_tasks, launch.scratch_bytes);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  virtual absl::Status Copy(void* to, const void* from, int64_t size_bytes) = 0;
  // `rows` runs of that size, so far apart at either end; runs written do not
  // overlap. One command where the device has it, else a copy for each.
  virtual absl::Status CopyRows(void* to, int64_t to_stride_bytes,
                                const void* from, int64_t from_stride_bytes,
                                int64_t size_bytes, int64_t rows);
  virtual absl::Status Fill(void* to, int byte, int64_t size_bytes) = 0;
  virtual absl::Status Synchronize() = 0;

  // Keeps what `work` enqueues on this stream, and nothing of it runs; `work`
  // waits for nothing. Null where that saves nothing: enqueue it anew.
  virtual absl::StatusOr<std::unique_ptr<CapturedWork>> Capture(
      const std::function<absl::Status()>& /*work*/) {
    return nullptr;
  }
  // Enqueues it, with the addresses that it was captured with. REQUIRES:
  // `captured` is this stream's.
  virtual absl::Status Replay(const CapturedWork& captured);
  // What is enqueued here from now on begins when all that was enqueued on
  // `other`, a stream of the same device, has ended.
  virtual absl::Status WaitFor(Stream& other) { return other.Synchronize(); }
};

// Memory of the host that a device copies from and to without the host's help;
// 64-byte aligned, freed with the object.
class HostBuffer {
 public:
  virtual ~HostBuffer() = default;
  virtual int64_t size_bytes() const = 0;
  virtual void* address() const = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view name() const = 0;  // "cpu", "cuda:0"
  virtual const DeviceSpec& spec() const = 0;
  virtual int num_threads()
      const = 0;  // 1 where tasks are not the host's threads
  virtual bool unified_memory()
      const = 0;  // kernels can read and write the host's memory

  // ResourceExhausted if there is not that much memory.
  virtual absl::StatusOr<std::unique_ptr<DeviceBuffer>> Allocate(
      int64_t size_bytes) = 0;
  // Ordinary memory where the device has nothing better. ResourceExhausted if
  // there is not that much.
  virtual absl::StatusOr<std::unique_ptr<HostBuffer>> AllocateHost(
      int64_t size_bytes);
  // FailedPrecondition names the features `target` needs and this device lacks;
  // InvalidArgument if the bytes are no module.
  virtual absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      std::string_view bytes, std::string_view target) = 0;
  // NotFound if the module has no such kernel. The module must outlive the
  // kernel.
  virtual absl::StatusOr<std::unique_ptr<DeviceKernel>> GetKernel(
      const DeviceModule& module, std::string_view name) = 0;
  virtual absl::StatusOr<std::unique_ptr<Stream>> CreateStream() = 0;

  virtual TimerMethod timer_method() const = 0;
  // Runs `work` and returns the device time it took, by timer_method().
  virtual absl::StatusOr<int64_t> TimeNs(
      Stream& stream, const std::function<absl::Status()>& work) = 0;
};

}  // namespace tilewright::backends

#endif  // TILEWRIGHT_BACKENDS_DEVICE_H_
