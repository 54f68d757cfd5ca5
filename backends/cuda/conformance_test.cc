// The CUDA device conforms, timed by events and by records. There may be no
// GPU here: the driver is a fake, and modules hold the CPU's code, or the
// emulator's of CUDA text.
#include "backends/cts/conformance.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cuda/codegen_for_fake_driver.h"
#include "backends/cuda/device/cuda_device.h"
#include "backends/cuda/device/fake_driver_handle.h"
#include "backends/device.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "gtest/gtest.h"

namespace tilewright::cuda {
namespace {

using backends::Device;

CudaDeviceOptions OnFakeDriver(bool use_profiler) {
  CudaDeviceOptions options;
  options.driver_library = std::string("./") + kFakeDriver;
  options.cupti_library = options.driver_library;
  options.use_profiler = use_profiler;
  return options;
}

cts::Backend CpuCodeOnFakeDriver(bool use_profiler) {
  cts::Backend backend;
  backend.name =
      use_profiler ? "CudaOnFakeDriverByRecords" : "CudaOnFakeDriverByEvents";
  const absl::StatusOr<DeviceSpec> host = HostSpec();
  TW_CHECK_OK(host);
  backend.codegen =
      [host = *host]() -> absl::StatusOr<std::unique_ptr<backends::Codegen>> {
    TW_ASSIGN_OR_RETURN(auto cpu, cpu::CreateCpuCodegen(host));
    DeviceSpec spec = host;
    spec.set_target("cuda:sm_90a");
    return CodegenForFakeDriver(std::move(cpu), std::move(spec));
  };
  backend.device = [options = OnFakeDriver(use_profiler)](
                       int) -> absl::StatusOr<std::unique_ptr<Device>> {
    return CreateCudaDevice(options);
  };
  if (!host->unit().fma()) {
    backend.unsupported["FmaRoundsOnce"] =
        "the host, which runs the kernels, has no fused multiply-add";
  }
  for (const char* name : {"ThreadsShareScratchAndExchangeRegisters",
                           "RandomKernelsWithThreads"}) {
    backend.unsupported[name] =
        "the host's CPU, whose code runs, has one thread a task";
  }
  return backend;
}

cts::Backend TextOnFakeDriver() {
  const absl::StatusOr<DeviceSpec> spec = LoadSpec("h100");
  TW_CHECK_OK(spec);
  cts::Backend backend;
  backend.name = "CudaTextOnFakeDriver";
  backend.codegen =
      [spec = *spec]() -> absl::StatusOr<std::unique_ptr<backends::Codegen>> {
    return CodegenForFakeDriver(emulator::CreateEmulatorCodegen(spec), spec);
  };
  backend.device = [options = OnFakeDriver(false)](
                       int) -> absl::StatusOr<std::unique_ptr<Device>> {
    return CreateCudaDevice(options);
  };
  return backend;
}

}  // namespace
}  // namespace tilewright::cuda

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (const bool use_profiler : {false, true}) {
    tilewright::cts::RegisterConformanceTests(
        tilewright::cuda::CpuCodeOnFakeDriver(use_profiler));
  }
  tilewright::cts::RegisterConformanceTests(
      tilewright::cuda::TextOnFakeDriver());
  return RUN_ALL_TESTS();
}
