#include "measure/worker/cpu/cpu_worker.h"

#include <memory>
#include <string>
#include <utility>

#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/host_spec.h"
#include "base/status_macros.h"
#include "measure/machine/steady_core.h"
#include "measure/verify/device_candidate.h"
#include "measure/worker/codegen_builder.h"

namespace tilewright::cpu {
namespace {

absl::StatusOr<measure::BuildFunction> Builder(const std::string& cpu_class) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec,
                      cpu_class.empty()
                          ? HostSpec()
                          : CpuSpec(cpu_class, QueryHostStructure()));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<backends::Codegen> codegen,
                      CreateCpuCodegen(spec));
  return measure::CodegenBuilder(std::move(codegen));
}

absl::StatusOr<std::unique_ptr<backends::Device>> Device(const std::string&,
                                                         int threads) {
  CpuDeviceOptions options;
  options.num_threads = threads;
  return CreateCpuDevice(options);
}

// CPUID is slow on virtual machines: it is asked once, and not by every child
// that verifies.
measure::DeviceFactory GuardedDevices() {
  return [features = HostCpuFeatures()](int threads, measure::GuardSide side) {
    CpuDeviceOptions options;
    options.num_threads = threads;
    options.pretend_features = features;
    options.scratch_guard = side;
    return CreateCpuDevice(options);
  };
}

}  // namespace

measure::WorkerBackend CpuWorker() {
  measure::WorkerBackend backend;
  backend.name = "cpu";
  backend.builder = Builder;
  backend.device = Device;
  backend.timer = measure::MakeTimer;
  backend.verifying_device = GuardedDevices();
  backend.core_work = measure::ReadSecondLevelCache;
  return backend;
}

}  // namespace tilewright::cpu
