#include "backends/fake/device/fake_device.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/fake/device/fake_module.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_macros.h"

namespace tilewright::fake {
namespace {

using namespace backends;  // NOLINT: the interface implemented here

constexpr int64_t kAlignment = 64;

// The state that all parts of a device share.
struct State {
  explicit State(const FakeDeviceOptions& device_options)
      : options(device_options), random(device_options.seed) {}
  absl::Status Check() const {
    if (!lost) return absl::OkStatus();
    return absl::UnavailableError(
        "the context is lost: an earlier kernel accessed what is not its own");
  }

  FakeDeviceOptions options;
  Random random;
  int64_t allocated_bytes = 0;
  double now_ns = 0;  // the virtual clock
  bool lost = false;
};

class FakeBuffer : public DeviceBuffer {
 public:
  FakeBuffer(State* state, void* memory, int64_t size_bytes)
      : state_(state), memory_(memory), size_bytes_(size_bytes) {}
  ~FakeBuffer() override {
    state_->allocated_bytes -= size_bytes_;
    std::free(memory_);
  }
  int64_t size_bytes() const override { return size_bytes_; }
  void* address() const override { return memory_; }

 private:
  State* state_;
  void* memory_;
  int64_t size_bytes_;
};

class LoadedModule : public DeviceModule {
 public:
  explicit LoadedModule(const FakeModule& module) : module(module) {}
  const FakeModule module;
  mutable int64_t executions = 0;
};

class LoadedKernel : public DeviceKernel {
 public:
  explicit LoadedKernel(const LoadedModule* module) : module(module) {}
  const LoadedModule* const module;
};

// Does not come back, but from kWrongResult and kStickyError.
void Fail(const FakeModule& module, State& state) {
  switch (module.fault) {
    case Fault::kCrash:
      if (module.signal == 0) _exit(EXIT_SUCCESS);
      raise(module.signal);
      break;
    case Fault::kHang:
      while (true) pause();
    case Fault::kStickyError:
      state.lost = true;
      break;
    case Fault::kNone:
    case Fault::kWrongResult:
    case Fault::kOutOfMemory:
      break;
  }
}

class FakeStream : public Stream {
 public:
  explicit FakeStream(State* state) : state_(state) {}

  absl::Status Launch(const DeviceKernel& kernel, absl::Span<void* const> args,
                      int64_t num_tasks, int64_t) override {
    TW_RETURN_IF_ERROR(state_->Check());
    if (args.size() != 2) {
      return absl::InvalidArgumentError("a fake kernel takes two arguments");
    }
    const LoadedModule& loaded =
        *static_cast<const LoadedKernel&>(kernel).module;
    const FakeModule& module = loaded.module;
    ++loaded.executions;
    const bool fails =
        module.fault != Fault::kNone && loaded.executions >= module.fault_at;
    if (fails) Fail(module, *state_);
    const float* const x = static_cast<const float*>(args[0]);
    float* const y = static_cast<float*>(args[1]);
    for (int64_t i = 0; i < num_tasks; ++i) y[i] = module.factor * x[i];
    if (fails && module.fault == Fault::kWrongResult && num_tasks > 0) {
      y[num_tasks - 1] += 1;
    }
    state_->now_ns += NoisyNs(static_cast<double>(module.latency_ns));
    return absl::OkStatus();
  }
  absl::Status Copy(void* to, const void* from, int64_t size_bytes) override {
    TW_RETURN_IF_ERROR(state_->Check());
    std::memcpy(to, from, static_cast<size_t>(size_bytes));
    return absl::OkStatus();
  }
  absl::Status Fill(void* to, int byte, int64_t size_bytes) override {
    TW_RETURN_IF_ERROR(state_->Check());
    std::memset(to, byte, static_cast<size_t>(size_bytes));
    return absl::OkStatus();
  }
  absl::Status Synchronize() override { return state_->Check(); }

 private:
  double NoisyNs(double ns) {
    const FakeDeviceOptions& options = state_->options;
    if (state_->random.Bernoulli(options.constants.outlier_share)) {
      return ns * options.constants.outlier_factor;
    }
    return std::max(1.0, ns * (1 + options.noise * state_->random.Normal()));
  }
  State* state_;
};

class FakeDevice : public Device {
 public:
  FakeDevice(const FakeDeviceOptions& options, DeviceSpec spec)
      : spec_(std::move(spec)), state_(options) {}

  std::string_view name() const override { return "fake"; }
  const DeviceSpec& spec() const override { return spec_; }
  int num_threads() const override { return 1; }
  bool unified_memory() const override { return state_.options.unified_memory; }

  absl::StatusOr<std::unique_ptr<DeviceBuffer>> Allocate(
      int64_t size_bytes) override {
    TW_RETURN_IF_ERROR(state_.Check());
    const int64_t padded =
        (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* const memory =
        state_.allocated_bytes + padded > state_.options.memory_bytes
            ? nullptr
            : std::aligned_alloc(kAlignment, static_cast<size_t>(
                                                 std::max(padded, kAlignment)));
    if (memory == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the fake device has no ", size_bytes, " bytes left"));
    }
    state_.allocated_bytes += size_bytes;
    return std::make_unique<FakeBuffer>(&state_, memory, size_bytes);
  }
  absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      std::string_view bytes, std::string_view target) override {
    TW_RETURN_IF_ERROR(state_.Check());
    if (target != kTarget) {
      return absl::FailedPreconditionError(
          absl::StrCat("the fake device does not run '", std::string(target),
                       "', only '", kTarget, "'"));
    }
    TW_ASSIGN_OR_RETURN(const FakeModule module, FakeModule::FromBytes(bytes));
    if (module.fault == Fault::kOutOfMemory) {
      return absl::ResourceExhaustedError(
          "the fake device has no memory for this module");
    }
    return std::make_unique<LoadedModule>(module);
  }
  absl::StatusOr<std::unique_ptr<DeviceKernel>> GetKernel(
      const DeviceModule& module, std::string_view name) override {
    if (name != kKernelName) {
      return absl::NotFoundError(
          absl::StrCat("the module has no kernel '", std::string(name), "'"));
    }
    return std::make_unique<LoadedKernel>(
        &static_cast<const LoadedModule&>(module));
  }
  absl::StatusOr<std::unique_ptr<Stream>> CreateStream() override {
    TW_RETURN_IF_ERROR(state_.Check());
    return std::make_unique<FakeStream>(&state_);
  }

  TimerMethod timer_method() const override {
    return TimerMethod::kDeviceEvents;
  }
  absl::StatusOr<int64_t> TimeNs(
      Stream& stream, const std::function<absl::Status()>& work) override {
    const double start_ns = state_.now_ns;
    TW_RETURN_IF_ERROR(work());
    TW_RETURN_IF_ERROR(stream.Synchronize());
    return static_cast<int64_t>(state_.now_ns - start_ns);
  }

 private:
  const DeviceSpec spec_;
  State state_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> CreateFakeDevice(
    const FakeDeviceOptions& options) {
  if (!options.lost_while_exists.empty() &&
      access(options.lost_while_exists.c_str(), F_OK) == 0) {
    return absl::UnavailableError("the fake device is lost");
  }
  TW_ASSIGN_OR_RETURN(DeviceSpec spec, LoadSpec("unit"));
  spec.set_name("fake");
  spec.set_target(kTarget);
  return std::make_unique<FakeDevice>(options, std::move(spec));
}

}  // namespace tilewright::fake
