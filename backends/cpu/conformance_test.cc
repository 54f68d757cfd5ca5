// The CPU backend conforms, for its host's class and for the smaller ones with
// vectors of another width.
#include "backends/cts/conformance.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/spec/cpu_features.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/host_spec.h"
#include "base/check.h"
#include "gtest/gtest.h"

namespace tilewright::cpu {
namespace {

cts::Backend CpuBackend(const std::string& cpu_class) {
  cts::Backend backend;
  backend.name = "Cpu_" + cpu_class;
  std::replace(backend.name.begin(), backend.name.end(), '-', '_');
  const absl::StatusOr<DeviceSpec> spec =
      CpuSpec(cpu_class, QueryHostStructure());
  TW_CHECK_OK(spec);
  backend.codegen = [spec = *spec] { return CreateCpuCodegen(spec); };
  backend.device = [](int num_threads) {
    CpuDeviceOptions options;
    options.num_threads = num_threads;
    return CreateCpuDevice(options);
  };
  if (!spec->unit().fma()) {
    backend.unsupported["FmaRoundsOnce"] =
        cpu_class + " has no fused multiply-add";
  }
  for (const char* name : {"ThreadsShareScratchAndExchangeRegisters",
                           "RandomKernelsWithThreads"}) {
    backend.unsupported[name] = "a CPU's task is one thread";
  }
  return backend;
}

}  // namespace
}  // namespace tilewright::cpu

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto best = tilewright::BestCpuClass(tilewright::HostCpuFeatures());
  TW_CHECK_OK(best);
  std::set<std::string> classes = {"x86-64-v2", *best};
  if (*best != "x86-64-v2") classes.insert("x86-64-v3");
  for (const std::string& cpu_class : classes) {
    tilewright::cts::RegisterConformanceTests(
        tilewright::cpu::CpuBackend(cpu_class));
  }
  return RUN_ALL_TESTS();
}
