#include "backends/emulator/device/emulator_device.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/cpu/device/module_loader.h"
#include "backends/cpu/kernel_abi.h"
#include "backends/emulator/device/device_memory.h"
#include "backends/emulator/module_abi.h"
#include "backends/guarded_buffer.h"
#include "base/status_macros.h"

namespace tilewright::emulator {
namespace {

using namespace backends;  // NOLINT: the interface implemented here
using cpu::SharedObject;

class EmulatorModule : public DeviceModule {
 public:
  explicit EmulatorModule(std::unique_ptr<SharedObject> object)
      : object_(std::move(object)) {}
  template <typename Function>
  Function Find(const std::string& name) const {
    return reinterpret_cast<Function>(object_->Find(name));
  }

 private:
  const std::unique_ptr<SharedObject> object_;
};

struct EmulatorKernel : DeviceKernel {
  std::string name;
  cpu::KernelFunction run = nullptr;
  ReportFunction report = nullptr;
  CountsFunction counts = nullptr;  // null: its module does not count
  const char* text = nullptr;
};

std::string LineOf(const char* text, int64_t line) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  if (line < 1 || line > static_cast<int64_t>(lines.size())) return "";
  return std::string(absl::StripAsciiWhitespace(lines[line - 1]));
}

KernelCounts Counted(const EmulatorKernel& kernel) {
  KernelCounts counts;
  counts.kernel = kernel.name;
  kernel.counts(
      [](void* context, const PlaceCount* place) {
        static_cast<KernelCounts*>(context)->places.push_back({*place, ""});
      },
      &counts);
  std::sort(counts.places.begin(), counts.places.end(),
            [](const CountedPlace& a, const CountedPlace& b) {
              const auto key = [](const PlaceCount& p) {
                return std::make_tuple(p.line, p.column, p.argument,
                                       p.scratch_bytes);
              };
              return key(a.count) < key(b.count);
            });
  for (CountedPlace& place : counts.places)
    place.text = LineOf(kernel.text, place.count.line);
  return counts;
}

std::string InLine(int64_t line) {
  return line > 0 ? absl::StrCat(" in line ", line) : "";
}

// Says what a mistake was, without where.
absl::Status Describe(const Report& r) {
  const std::string element =
      absl::StrCat("element ", r.index, " of a buffer of ", r.elements);
  switch (static_cast<Mistake>(r.mistake)) {
    case kAccessOutside:
      return absl::OutOfRangeError(element);
    case kRace:
      return absl::AbortedError(absl::StrCat(
          "race: ", r.writes != 0 ? "writes " : "reads ", element,
          ", which thread ", r.other_thread,
          r.other_block == r.block ? ""
                                   : absl::StrCat(" of block ", r.other_block),
          r.wrote != 0 ? " writes" : " reads", InLine(r.other_line),
          " without a barrier between"));
    case kUnwritten:
      return absl::FailedPreconditionError(absl::StrCat(
          "reads ", element, ", which no thread of the block has written"));
    case kParted:
      return absl::FailedPreconditionError(
          absl::StrCat("waits for thread ", r.other_thread, ", which has ",
                       r.other_line == 0 ? "ended" : "come to a halt",
                       InLine(r.other_line)));
    case kMisaligned:
      return absl::InvalidArgumentError(
          absl::StrCat(element, " is no place for a whole vector"));
    case kLostWait:
      return absl::DataLossError(
          absl::StrCat("lost wait: ", r.writes != 0 ? "writes " : "reads ",
                       element, ", which thread ", r.other_thread, " copies",
                       InLine(r.other_line), " and has not waited for"));
  }
  return absl::InternalError(absl::StrCat("mistake ", r.mistake));
}

absl::Status Reported(const EmulatorKernel& kernel) {
  const Report& report = *kernel.report();
  const absl::Status what = Describe(report);
  const std::string text = LineOf(kernel.text, report.line);
  return absl::Status(
      what.code(),
      absl::StrCat(
          "kernel ", kernel.name, ", line ", report.line, ", block ",
          report.block,
          report.thread < 0 ? "" : absl::StrCat(", thread ", report.thread),
          ": ", std::string(what.message()), text.empty() ? "" : ": ", text));
}

class EmulatorStream : public Stream {
 public:
  EmulatorStream(std::shared_ptr<DeviceMemory> memory, int64_t shared_bytes,
                 const EmulatorDeviceOptions& options)
      : memory_(std::move(memory)),
        shared_bytes_(shared_bytes),
        options_(options) {}

  absl::Status Launch(const DeviceKernel& kernel, absl::Span<void* const> args,
                      int64_t num_tasks, int64_t scratch_bytes) override {
    const auto& resolved = static_cast<const EmulatorKernel&>(kernel);
    if (scratch_bytes > shared_bytes_) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "kernel ", resolved.name, " wants ", scratch_bytes,
          " bytes of shared memory, a block has at most ", shared_bytes_));
    }
    std::vector<void*> buffers;
    for (void* const arg : args) {
      TW_ASSIGN_OR_RETURN(void* const buffer, memory_->Resolve(arg, 0));
      buffers.push_back(buffer);
    }
    TW_ASSIGN_OR_RETURN(const GuardedBuffer shared,
                        GuardedBuffer::Create((scratch_bytes + 63) / 64 * 64,
                                              GuardedBuffer::Side::kEnd));
    const cpu::KernelArgs kernel_args = {buffers.data(), nullptr};
    int32_t result = cpu::kKernelOk;
    const absl::Status fault = TrapFaults([&] {
      result = resolved.run(&kernel_args, 0, num_tasks, shared.data());
      return absl::OkStatus();
    });
    if (!fault.ok()) {
      return absl::Status(fault.code(),
                          absl::StrCat("kernel ", resolved.name, ": ",
                                       std::string(fault.message())));
    }
    if (result != cpu::kKernelOk) return Reported(resolved);
    if (resolved.counts != nullptr && options_.on_counts)
      options_.on_counts(Counted(resolved));
    return absl::OkStatus();
  }

  absl::Status Copy(void* to, const void* from, int64_t size_bytes) override {
    if (size_bytes <= 0) return absl::OkStatus();
    TW_ASSIGN_OR_RETURN(char* const target, OnEitherSide(to, size_bytes));
    TW_ASSIGN_OR_RETURN(const char* const source,
                        OnEitherSide(from, size_bytes));
    std::memmove(target, source, static_cast<size_t>(size_bytes));
    return absl::OkStatus();
  }

  absl::Status Fill(void* to, int byte, int64_t size_bytes) override {
    if (size_bytes <= 0) return absl::OkStatus();
    TW_ASSIGN_OR_RETURN(char* const target, memory_->Resolve(to, size_bytes));
    std::memset(target, byte, static_cast<size_t>(size_bytes));
    return absl::OkStatus();
  }

  absl::Status Synchronize() override { return absl::OkStatus(); }

 private:
  absl::StatusOr<char*> OnEitherSide(const void* address,
                                     int64_t size_bytes) const {
    if (DeviceMemory::IsDevice(address))
      return memory_->Resolve(address, size_bytes);
    return static_cast<char*>(const_cast<void*>(address));
  }

  const std::shared_ptr<DeviceMemory> memory_;
  const int64_t shared_bytes_;
  const EmulatorDeviceOptions options_;
};

class EmulatorDevice : public Device {
 public:
  EmulatorDevice(const DeviceSpec& spec, EmulatorDeviceOptions options)
      : spec_(spec), options_(std::move(options)) {}

  std::string_view name() const override { return "emulator"; }
  const DeviceSpec& spec() const override { return spec_; }
  int num_threads() const override { return 1; }
  bool unified_memory() const override { return false; }

  absl::StatusOr<std::unique_ptr<DeviceBuffer>> Allocate(
      int64_t size_bytes) override {
    return memory_->Allocate(size_bytes);
  }

  absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      std::string_view bytes, std::string_view target) override {
    if (target.rfind(kTargetPrefix, 0) != 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("the module is for ", std::string(target),
                       ", the emulator runs emulator:cuda and emulator:hip"));
    }
    TW_ASSIGN_OR_RETURN(std::unique_ptr<SharedObject> object,
                        SharedObject::Load(bytes));
    auto module = std::make_unique<EmulatorModule>(std::move(object));
    if (module->Find<ReportFunction>(kReportSymbol) == nullptr)
      return absl::InvalidArgumentError("no module of the emulator");
    return module;
  }

  absl::StatusOr<std::unique_ptr<DeviceKernel>> GetKernel(
      const DeviceModule& module, std::string_view name) override {
    const auto& loaded = static_cast<const EmulatorModule&>(module);
    auto kernel = std::make_unique<EmulatorKernel>();
    kernel->name = std::string(name);
    kernel->run = loaded.Find<cpu::KernelFunction>(kRunPrefix + kernel->name);
    kernel->report = loaded.Find<ReportFunction>(kReportSymbol);
    kernel->counts = loaded.Find<CountsFunction>(kCountsSymbol);
    kernel->text = loaded.Find<const char*>(kTextSymbol);
    if (kernel->run == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("the module has no kernel '", kernel->name, "'"));
    }
    return kernel;
  }

  absl::StatusOr<std::unique_ptr<Stream>> CreateStream() override {
    return std::make_unique<EmulatorStream>(
        memory_, spec_.unit().scratchpad_bytes_per_block(), options_);
  }

  TimerMethod timer_method() const override {
    return TimerMethod::kThreadCpuTime;
  }
  absl::StatusOr<int64_t> TimeNs(
      Stream& stream, const std::function<absl::Status()>& work) override {
    const int64_t start = ThreadCpuNs();
    TW_RETURN_IF_ERROR(work());
    TW_RETURN_IF_ERROR(stream.Synchronize());
    return ThreadCpuNs() - start;
  }

 private:
  static int64_t ThreadCpuNs() {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
  }

  const DeviceSpec spec_;
  const EmulatorDeviceOptions options_;
  const std::shared_ptr<DeviceMemory> memory_ =
      std::make_shared<DeviceMemory>();
};

}  // namespace

std::unique_ptr<Device> CreateEmulatorDevice(
    const DeviceSpec& spec, const EmulatorDeviceOptions& options) {
  return std::make_unique<EmulatorDevice>(spec, options);
}

}  // namespace tilewright::emulator
