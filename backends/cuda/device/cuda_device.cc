#include "backends/cuda/device/cuda_device.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cuda/device/activity_recorder.h"
#include "backends/cuda/device/cuda_context.h"
#include "backends/cuda/device/cuda_error.h"
#include "backends/cuda/device/cuda_spec.h"
#include "backends/cuda/device/cuda_stream.h"
#include "backends/cuda/device/image_check.h"
#include "base/ar_archive.h"
#include "base/status_macros.h"

namespace tilewright::cuda {
namespace {

using namespace backends;  // NOLINT: the interface implemented here

constexpr int64_t kPadBytes = 64;

class CudaBuffer : public DeviceBuffer {
 public:
  CudaBuffer(std::shared_ptr<CudaContext> context, CuAddress address,
             int64_t size_bytes)
      : context_(std::move(context)),
        address_(address),
        size_bytes_(size_bytes) {}
  ~CudaBuffer() override {
    context_->api().context_set_current(context_->handle());
    context_->api().memory_free(address_);
  }
  int64_t size_bytes() const override { return size_bytes_; }
  void* address() const override { return reinterpret_cast<void*>(address_); }

 private:
  const std::shared_ptr<CudaContext> context_;
  const CuAddress address_;
  const int64_t size_bytes_;
};

// Pinned: the device reads and writes it by itself.
class PinnedBuffer : public HostBuffer {
 public:
  PinnedBuffer(std::shared_ptr<CudaContext> context, void* address,
               int64_t size_bytes)
      : context_(std::move(context)),
        address_(address),
        size_bytes_(size_bytes) {}
  ~PinnedBuffer() override {
    context_->api().context_set_current(context_->handle());
    context_->api().memory_host_free(address_);
  }
  int64_t size_bytes() const override { return size_bytes_; }
  void* address() const override { return address_; }

 private:
  const std::shared_ptr<CudaContext> context_;
  void* const address_;
  const int64_t size_bytes_;
};

class CudaModule : public DeviceModule {
 public:
  explicit CudaModule(std::shared_ptr<CudaContext> context)
      : context_(std::move(context)) {}
  ~CudaModule() override {
    context_->api().context_set_current(context_->handle());
    for (const auto& [kernel, image] : images_)
      context_->api().module_unload(image);
  }

  // `kernel`: the one that is in it; empty: all of them.
  absl::Status Load(const std::string& kernel, std::string_view bytes) {
    if (images_.count(kernel) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the module has two kernels '", kernel, "'"));
    }
    const std::string image(bytes);  // ends with a zero, as PTX must
    CuModule loaded = nullptr;
    TW_RETURN_IF_ERROR(context_->Check(
        context_->api().module_load(&loaded, image.c_str()),
        kernel.empty() ? "loading a module"
                       : absl::StrCat("loading '", kernel, "'")));
    images_.emplace(kernel, loaded);
    return absl::OkStatus();
  }
  absl::StatusOr<CuFunction> Find(const std::string& kernel) const {
    auto image = images_.find(kernel);
    if (image == images_.end()) image = images_.find("");
    const std::string what = absl::StrCat("kernel '", kernel, "'");
    if (image == images_.end())
      return absl::NotFoundError(absl::StrCat(what, ": not in the module"));
    CuFunction function = nullptr;
    TW_RETURN_IF_ERROR(
        context_->Check(context_->api().module_get_function(
                            &function, image->second, kernel.c_str()),
                        what));
    return function;
  }

 private:
  const std::shared_ptr<CudaContext> context_;
  std::map<std::string, CuModule> images_;
};

// Facts that the driver tells about the device when it is created.
struct Facts {
  std::string name, product, driver_version;
  DeviceSpec spec;
  int major = 0, minor = 0;
};

class CudaDeviceImpl : public CudaDevice {
 public:
  CudaDeviceImpl(std::shared_ptr<CudaContext> context, Facts facts,
                 const absl::StatusOr<ActivityRecorder*>& recorder)
      : context_(std::move(context)),
        facts_(std::move(facts)),
        records_(std::make_shared<RecordTiming>(recorder)) {}

  std::string_view name() const override { return facts_.name; }
  const DeviceSpec& spec() const override { return facts_.spec; }
  int num_threads() const override { return 1; }
  bool unified_memory() const override { return false; }
  const std::string& product() const override { return facts_.product; }
  const std::string& driver_version() const override {
    return facts_.driver_version;
  }
  absl::Status profiler_status() const override { return records_->status(); }

  void* native_stream(Stream& stream) const override {
    return static_cast<CudaStream&>(stream).handle();
  }

  absl::StatusOr<std::unique_ptr<DeviceBuffer>> Allocate(
      int64_t size_bytes) override {
    if (size_bytes < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a buffer of ", size_bytes, " bytes"));
    }
    TW_RETURN_IF_ERROR(context_->Enter());
    const int64_t padded = std::max(
        kPadBytes, (size_bytes + kPadBytes - 1) / kPadBytes * kPadBytes);
    CuAddress address = 0;
    TW_RETURN_IF_ERROR(context_->Check(
        context_->api().memory_allocate(&address, static_cast<size_t>(padded)),
        absl::StrCat("a buffer of ", size_bytes, " bytes")));
    return std::make_unique<CudaBuffer>(context_, address, size_bytes);
  }

  absl::StatusOr<std::unique_ptr<HostBuffer>> AllocateHost(
      int64_t size_bytes) override {
    TW_RETURN_IF_ERROR(context_->Enter());
    void* address = nullptr;
    TW_RETURN_IF_ERROR(context_->Check(
        context_->api().memory_host_allocate(
            &address, static_cast<size_t>(std::max(kPadBytes, size_bytes)),
            /*flags=*/0),
        absl::StrCat(size_bytes, " bytes of pinned memory")));
    return std::make_unique<PinnedBuffer>(context_, address, size_bytes);
  }

  absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      std::string_view bytes, std::string_view target) override {
    constexpr std::string_view kPrefix = "cuda:";
    if (target.substr(0, kPrefix.size()) != kPrefix) {
      return absl::FailedPreconditionError(
          absl::StrCat("the module is for ", std::string(target),
                       ", this device is ", facts_.spec.target()));
    }
    TW_RETURN_IF_ERROR(context_->Enter());
    std::vector<ArView> images = {{"", bytes}};
    if (IsArArchive(bytes)) {
      TW_ASSIGN_OR_RETURN(images, ReadArArchive(bytes));
    }
    auto module = std::make_unique<CudaModule>(context_);
    for (const ArView& image : images) {
      TW_ASSIGN_OR_RETURN(const ImageKind kind, CheckImage(image.bytes));
      TW_RETURN_IF_ERROR(CheckArchitecture(target.substr(kPrefix.size()), kind,
                                           facts_.major, facts_.minor));
      TW_RETURN_IF_ERROR(module->Load(image.name, image.bytes));
    }
    return module;
  }

  absl::StatusOr<std::unique_ptr<DeviceKernel>> GetKernel(
      const DeviceModule& module, std::string_view name) override {
    TW_RETURN_IF_ERROR(context_->Enter());
    const std::string kernel_name(name);
    TW_ASSIGN_OR_RETURN(
        const CuFunction function,
        static_cast<const CudaModule&>(module).Find(kernel_name));
    int threads = 0;
    TW_RETURN_IF_ERROR(
        context_->Check(context_->api().function_get_attribute(
                            &threads, kCuFunctionMaxThreadsPerBlock, function),
                        absl::StrCat("kernel '", kernel_name, "'")));
    return std::make_unique<CudaKernel>(kernel_name, function, threads);
  }

  absl::StatusOr<std::unique_ptr<Stream>> CreateStream() override {
    return CudaStream::Create(
        context_, facts_.spec.unit().scratchpad_bytes_per_block(), records_);
  }

  TimerMethod timer_method() const override {
    return records_->recorder() != nullptr ? TimerMethod::kProfilerActivity
                                           : TimerMethod::kDeviceEvents;
  }
  absl::StatusOr<int64_t> TimeNs(
      Stream& stream, const std::function<absl::Status()>& work) override {
    return static_cast<CudaStream&>(stream).TimeNs(work);
  }

 private:
  const std::shared_ptr<CudaContext> context_;
  const Facts facts_;
  const std::shared_ptr<RecordTiming> records_;
};

absl::StatusOr<CuDevice> FindDevice(const DriverApi& api, int ordinal) {
  int count = 0;
  TW_RETURN_IF_ERROR(
      ToStatus(api, api.device_get_count(&count), "cuDeviceGetCount"));
  if (ordinal < 0 || ordinal >= count) {
    return absl::FailedPreconditionError(
        absl::StrCat("no CUDA device ", ordinal, ": this machine has ", count));
  }
  CuDevice device = 0;
  TW_RETURN_IF_ERROR(
      ToStatus(api, api.device_get(&device, ordinal), "cuDeviceGet"));
  return device;
}

absl::StatusOr<Facts> ReadFacts(const DriverApi& api, CuDevice device,
                                const CudaDeviceOptions& options) {
  Facts facts;
  facts.name = absl::StrCat("cuda:", options.ordinal);
  char product[256] = "";
  TW_RETURN_IF_ERROR(
      ToStatus(api, api.device_get_name(product, sizeof(product) - 1, device),
               "cuDeviceGetName"));
  facts.product = product;
  int version = 0;
  TW_RETURN_IF_ERROR(
      ToStatus(api, api.driver_get_version(&version), "cuDriverGetVersion"));
  facts.driver_version =
      absl::StrCat("CUDA ", version / 1000, ".", version % 1000 / 10);
  for (const auto& [attribute, value] :
       {std::pair(kCuComputeCapabilityMajor, &facts.major),
        std::pair(kCuComputeCapabilityMinor, &facts.minor)}) {
    TW_RETURN_IF_ERROR(
        ToStatus(api, api.device_get_attribute(value, attribute, device),
                 "cuDeviceGetAttribute"));
  }
  if (options.spec) {
    facts.spec = *options.spec;
  } else {
    TW_ASSIGN_OR_RETURN(facts.spec, QuerySpec(api, device));
  }
  return facts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaDevice>> CreateCudaDevice(
    const CudaDeviceOptions& options) {
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<const DriverApi> api,
                      OpenDriver(options.driver_library));
  // CUPTI sees everything only if it is enabled before the driver wakes up.
  absl::StatusOr<ActivityRecorder*> recorder =
      absl::CancelledError("events were asked for");
  if (options.use_profiler) {
    recorder = ActivityRecorder::Get(options.cupti_library);
  }
  TW_RETURN_IF_ERROR(ToStatus(*api, api->init(0), "cuInit"));
  TW_ASSIGN_OR_RETURN(const CuDevice device, FindDevice(*api, options.ordinal));
  TW_ASSIGN_OR_RETURN(Facts facts, ReadFacts(*api, device, options));
  TW_ASSIGN_OR_RETURN(std::shared_ptr<CudaContext> context,
                      CudaContext::Create(api, device));
  return std::make_unique<CudaDeviceImpl>(std::move(context), std::move(facts),
                                          recorder);
}

}  // namespace tilewright::cuda
