// GPU text conforms, in both dialects, as the emulator runs it.
#include "backends/cts/conformance.h"

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/codegen.h"
#include "backends/device.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/emulator/device/emulator_device.h"
#include "backends/gpu_text/prelude.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "gtest/gtest.h"

namespace tilewright::emulator {
namespace {

cts::Backend EmulatorBackend(const std::string& name, const std::string& gpu,
                             const EmulatorCodegenOptions& options) {
  const absl::StatusOr<DeviceSpec> spec = LoadSpec(gpu);
  TW_CHECK_OK(spec);
  cts::Backend backend;
  backend.name = name;
  backend.codegen =
      [=]() -> absl::StatusOr<std::unique_ptr<backends::Codegen>> {
    return CreateEmulatorCodegen(*spec, options);
  };
  backend.device =
      [=](int) -> absl::StatusOr<std::unique_ptr<backends::Device>> {
    return CreateEmulatorDevice(*spec);
  };
  return backend;
}

}  // namespace
}  // namespace tilewright::emulator

int main(int argc, char** argv) {
  using namespace tilewright;  // NOLINT
  testing::InitGoogleTest(&argc, argv);
  emulator::EmulatorCodegenOptions cuda, hip;
  hip.dialect = gpu_text::Dialect::kHip;
  cts::RegisterConformanceTests(
      emulator::EmulatorBackend("EmulatedCuda", "h100", cuda));
  cts::RegisterConformanceTests(
      emulator::EmulatorBackend("EmulatedHip", "mi210", hip));
  return RUN_ALL_TESTS();
}
