#include "backends/cpu/device/cpu_device.h"

#include <pmmintrin.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/device/clock_ns.h"
#include "backends/cpu/device/module_loader.h"
#include "backends/cpu/device/scratch_arena.h"
#include "backends/cpu/device/thread_pool.h"
#include "backends/cpu/kernel_abi.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/host_spec.h"
#include "base/status_macros.h"

namespace tilewright::cpu {
namespace {

using namespace backends;  // NOLINT: the interface implemented here

class CpuBuffer : public DeviceBuffer {
 public:
  CpuBuffer(AlignedMemory memory, int64_t size_bytes)
      : memory_(std::move(memory)), size_bytes_(size_bytes) {}
  int64_t size_bytes() const override { return size_bytes_; }
  void* address() const override { return memory_.get(); }

 private:
  AlignedMemory memory_;
  int64_t size_bytes_;
};

class CpuModule : public DeviceModule {
 public:
  explicit CpuModule(std::unique_ptr<SharedObject> object)
      : object_(std::move(object)) {}
  const SharedObject& object() const { return *object_; }

 private:
  std::unique_ptr<SharedObject> object_;
};

class CpuKernel : public DeviceKernel {
 public:
  CpuKernel(std::string name, KernelFunction function)
      : name_(std::move(name)), function_(function) {}
  const std::string& name() const { return name_; }
  KernelFunction function() const { return function_; }

 private:
  std::string name_;
  KernelFunction function_;
};

absl::Status StatusOfKernel(const std::string& name, int32_t status) {
  switch (status) {
    case kKernelOk:
      return absl::OkStatus();
    case kKernelIndexOutOfRange:
      return absl::OutOfRangeError(absl::StrCat(
          "kernel ", name, ": an index in the data is out of range"));
    default:
      return absl::InternalError(
          absl::StrCat("kernel ", name, " returned status ", status));
  }
}

// Threads and their scratch, shared by the streams of a device.
struct Workers {
  Workers(int num_threads, const CpuDeviceOptions& options)
      : pool(num_threads),
        arenas(pool.num_threads()),
        scratch_guard(options.scratch_guard),
        flush_denormals(options.flush_denormals),
        task_log(options.task_log) {}
  ThreadPool pool;
  std::vector<ScratchArena> arenas;  // by worker; 0 is unused: see CpuStream
  const std::optional<GuardedBuffer::Side> scratch_guard;
  const bool flush_denormals;
  TaskLog* const task_log;
};

// This thread takes denormals as zeros and makes none while it lives, if asked.
class FlushedDenormals {
 public:
  explicit FlushedDenormals(bool flush) : before_(_mm_getcsr()) {
    if (flush) _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON);
  }
  ~FlushedDenormals() { _mm_setcsr(before_); }
  FlushedDenormals(const FlushedDenormals&) = delete;
  FlushedDenormals& operator=(const FlushedDenormals&) = delete;

 private:
  const unsigned before_;
};

// Runs the tasks one by one with scratch that is undefined at first and
// guarded.
absl::Status RunWithGuardedScratch(const CpuKernel& kernel,
                                   const KernelArgs& args, int64_t begin,
                                   int64_t end, int64_t scratch_bytes,
                                   GuardedBuffer::Side side) {
  // Kernels may count on alignment to 64 bytes at both ends.
  const int64_t rounded = (scratch_bytes + 63) / 64 * 64;
  TW_ASSIGN_OR_RETURN(const GuardedBuffer scratch,
                      GuardedBuffer::Create(rounded, side));
  for (int64_t i = 0; i < end - begin; ++i) {
    const int64_t task =
        side == GuardedBuffer::Side::kBegin ? end - 1 - i : begin + i;
    // Integers below all others, and NaN; or integers above, and huge floats.
    std::memset(scratch.data(),
                side == GuardedBuffer::Side::kBegin ? 0x7F : 0xFF,
                static_cast<size_t>(rounded));
    TW_RETURN_IF_ERROR(StatusOfKernel(
        kernel.name(),
        kernel.function()(&args, task, task + 1, scratch.data())));
  }
  if (!scratch.SlackIntact()) {
    return absl::InternalError(
        absl::StrCat("kernel ", kernel.name(), " wrote outside its ",
                     scratch_bytes, " bytes of scratch"));
  }
  return absl::OkStatus();
}

// The least work for which other threads save more than it costs to call them
// and to wait for the last one, which takes up to a microsecond.
constexpr double kLeastShared_ns = 2000;

bool WorthSharing(absl::Span<const KernelLaunch> launches) {
  double ns = 0;
  for (const KernelLaunch& launch : launches) {
    if (launch.one_thread_ns <= 0) return true;
    ns += launch.one_thread_ns;
  }
  return ns >= kLeastShared_ns;
}

class CpuStream : public Stream {
 public:
  explicit CpuStream(Workers& workers) : workers_(workers) {}

  absl::Status Launch(const DeviceKernel& kernel, absl::Span<void* const> args,
                      int64_t num_tasks, int64_t scratch_bytes) override {
    return LaunchTogether({{&kernel, args, num_tasks, scratch_bytes}});
  }

  // The tasks of all launches, one launch after the other, are the tasks of one
  // run of the pool.
  absl::Status LaunchTogether(
      absl::Span<const KernelLaunch> launches) override {
    if (workers_.scratch_guard.has_value()) {
      for (const KernelLaunch& launch : launches) {
        TW_RETURN_IF_ERROR(
            LaunchGuarded(static_cast<const CpuKernel&>(*launch.kernel),
                          {launch.args.data(), nullptr}, launch.num_tasks,
                          launch.scratch_bytes));
      }
      return absl::OkStatus();
    }
    int64_t num_tasks = 0;
    for (const KernelLaunch& launch : launches) num_tasks += launch.num_tasks;
    Failure failure;
    const ThreadPool::Body body = [&](int64_t begin, int64_t end, int worker) {
      int64_t first = 0;  // task of this launch
      for (const KernelLaunch& launch : launches) {
        const int64_t from = std::max(begin, first),
                      to = std::min(end, first + launch.num_tasks);
        if (from < to)
          RunTasks(launch, from - first, to - first, worker, failure);
        first += launch.num_tasks;
      }
    };
    if (WorthSharing(launches)) {
      workers_.pool.Run(num_tasks, body);
    } else {
      body(0, num_tasks, 0);
    }
    return failure.ToStatus();
  }
  absl::Status Copy(void* to, const void* from, int64_t size_bytes) override {
    if (size_bytes > 0) std::memcpy(to, from, static_cast<size_t>(size_bytes));
    return absl::OkStatus();
  }
  absl::Status Fill(void* to, int byte, int64_t size_bytes) override {
    if (size_bytes > 0) std::memset(to, byte, static_cast<size_t>(size_bytes));
    return absl::OkStatus();
  }
  absl::Status Synchronize() override { return absl::OkStatus(); }

 private:
  // Keeps the gravest error of all threads.
  class Failure {
   public:
    void OutOfMemory(const KernelLaunch& launch) { out_of_memory_ = &launch; }
    void Report(const KernelLaunch& launch, int32_t status) {
      std::lock_guard<std::mutex> lock(mutex_);
      if (status <= status_) return;
      status_ = status;
      launch_ = &launch;
    }
    absl::Status ToStatus() const {
      if (const KernelLaunch* launch = out_of_memory_) {
        return absl::ResourceExhaustedError(
            absl::StrCat("no ", launch->scratch_bytes,
                         " bytes of scratch for kernel ", NameOf(*launch)));
      }
      return launch_ == nullptr ? absl::OkStatus()
                                : StatusOfKernel(NameOf(*launch_), status_);
    }

   private:
    static const std::string& NameOf(const KernelLaunch& launch) {
      return static_cast<const CpuKernel&>(*launch.kernel).name();
    }
    std::atomic<const KernelLaunch*> out_of_memory_{nullptr};
    std::mutex mutex_;
    int32_t status_ = kKernelOk;
    const KernelLaunch* launch_ = nullptr;
  };

  void RunTasks(const KernelLaunch& launch, int64_t begin, int64_t end,
                int worker, Failure& failure) {
    // Launches that need no other thread may run beside each other, so the
    // launching thread brings its own scratch.
    ScratchArena& arena = worker == 0 ? arena_ : workers_.arenas[worker];
    void* scratch = arena.Reserve(launch.scratch_bytes);
    if (scratch == nullptr) return failure.OutOfMemory(launch);
    const LoggedPiece logged(workers_.task_log, worker, begin, end);
    const FlushedDenormals flushed(workers_.flush_denormals);
    const KernelArgs args = {launch.args.data(), nullptr};
    const int32_t status = static_cast<const CpuKernel&>(*launch.kernel)
                               .function()(&args, begin, end, scratch);
    if (status != kKernelOk) failure.Report(launch, status);
  }

  absl::Status LaunchGuarded(const CpuKernel& kernel, const KernelArgs& args,
                             int64_t num_tasks, int64_t scratch_bytes) {
    std::mutex mutex;
    absl::Status first;
    workers_.pool.Run(num_tasks, [&](int64_t begin, int64_t end, int) {
      const FlushedDenormals flushed(workers_.flush_denormals);
      const absl::Status status = RunWithGuardedScratch(
          kernel, args, begin, end, scratch_bytes, *workers_.scratch_guard);
      std::lock_guard<std::mutex> lock(mutex);
      first.Update(status);
    });
    return first;
  }

  Workers& workers_;
  ScratchArena arena_;
};

class CpuDevice : public Device {
 public:
  CpuDevice(DeviceSpec spec, std::vector<std::string> features, int num_threads,
            const CpuDeviceOptions& options)
      : spec_(std::move(spec)),
        features_(std::move(features)),
        workers_(num_threads, options) {}

  std::string_view name() const override { return "cpu"; }
  const DeviceSpec& spec() const override { return spec_; }
  int num_threads() const override { return workers_.pool.num_threads(); }
  bool unified_memory() const override { return true; }

  absl::StatusOr<std::unique_ptr<DeviceBuffer>> Allocate(
      int64_t size_bytes) override {
    if (size_bytes < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a buffer of ", size_bytes, " bytes"));
    }
    AlignedMemory memory = AllocateAligned(size_bytes);
    if (memory == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for a buffer of ", size_bytes, " bytes"));
    }
    return std::make_unique<CpuBuffer>(std::move(memory), size_bytes);
  }

  absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      std::string_view bytes, std::string_view target) override {
    constexpr std::string_view kPrefix = "cpu:";
    if (target.substr(0, kPrefix.size()) != kPrefix) {
      return absl::FailedPreconditionError(
          absl::StrCat("the module is for ", std::string(target),
                       ", this device is ", spec_.target()));
    }
    const std::string cpu_class(target.substr(kPrefix.size()));
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> missing,
                        MissingCpuFeatures(cpu_class, features_));
    if (!missing.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the module is for ", std::string(target), ", but this CPU lacks ",
          absl::StrJoin(missing, ", "), ": compile for ", spec_.target()));
    }
    TW_ASSIGN_OR_RETURN(std::unique_ptr<SharedObject> object,
                        SharedObject::Load(bytes));
    return std::make_unique<CpuModule>(std::move(object));
  }

  absl::StatusOr<std::unique_ptr<DeviceKernel>> GetKernel(
      const DeviceModule& module, std::string_view name) override {
    const std::string kernel_name(name);
    const KernelFunction function =
        static_cast<const CpuModule&>(module).object().Find(kernel_name);
    if (function == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("the module has no kernel '", kernel_name, "'"));
    }
    return std::make_unique<CpuKernel>(kernel_name, function);
  }

  absl::StatusOr<std::unique_ptr<Stream>> CreateStream() override {
    return std::make_unique<CpuStream>(workers_);
  }

  TimerMethod timer_method() const override {
    return num_threads() == 1 ? TimerMethod::kThreadCpuTime
                              : TimerMethod::kWallClock;
  }
  absl::StatusOr<int64_t> TimeNs(
      Stream& stream, const std::function<absl::Status()>& work) override {
    const clockid_t clock =
        num_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    const int64_t start = ClockNs(clock);
    TW_RETURN_IF_ERROR(work());
    TW_RETURN_IF_ERROR(stream.Synchronize());
    return ClockNs(clock) - start;
  }

 private:
  const DeviceSpec spec_;
  const std::vector<std::string> features_;
  Workers workers_;
};

// Linux saves AMX tiles only for processes that ask (once is enough).
bool RequestAmxPermission() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> CreateCpuDevice(
    const CpuDeviceOptions& options) {
  if (options.num_threads < 0 || options.num_threads > 4096) {
    return absl::InvalidArgumentError(
        absl::StrCat("a CPU device with ", options.num_threads, " threads"));
  }
  std::vector<std::string> features = options.pretend_features;
  if (features.empty()) features = HostCpuFeatures();
  std::sort(features.begin(), features.end());
  if (std::binary_search(features.begin(), features.end(), "amx-tile") &&
      !RequestAmxPermission()) {
    features.erase(std::remove_if(features.begin(), features.end(),
                                  [](const std::string& feature) {
                                    return absl::StartsWith(feature, "amx-");
                                  }),
                   features.end());
  }
  TW_ASSIGN_OR_RETURN(const std::string cpu_class, BestCpuClass(features));
  const HostStructure host = QueryHostStructure();
  TW_ASSIGN_OR_RETURN(DeviceSpec spec, CpuSpec(cpu_class, host));
  const int num_threads = options.num_threads == 0
                              ? static_cast<int>(host.cores)
                              : options.num_threads;
  return std::make_unique<CpuDevice>(std::move(spec), std::move(features),
                                     num_threads, options);
}

}  // namespace tilewright::cpu
