#include "tools/backends.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/cuda/codegen/cuda_codegen.h"
#include "backends/cuda/device/cuda_device.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/emulator/device/emulator_device.h"
#include "backends/gpu_text/prelude.h"
#include "backends/hip/codegen/hip_codegen.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"

namespace tilewright::tools {
namespace {

constexpr char kCuda[] = "cuda:";
constexpr char kHip[] = "hip:";
constexpr char kEmulator[] = "emulator:";
constexpr char kEmulatedHip[] = "emulator:hip";

}  // namespace

std::vector<std::string> GpuTargets() {
  std::vector<std::string> targets;
  for (const std::string& name : BuiltinSpecNames()) {
    const absl::StatusOr<DeviceSpec> spec = LoadSpec(name);
    if (spec.ok() && (absl::StartsWith(spec->target(), kCuda) ||
                      absl::StartsWith(spec->target(), kHip)))
      targets.push_back(spec->target());
  }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  targets.insert(targets.end(), {kPresentGpu, "emulator:cuda", kEmulatedHip});
  return targets;
}

absl::StatusOr<DeviceSpec> GpuSpec(const std::string& target) {
  if (target == kPresentGpu) {
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<cuda::CudaDevice> device,
                        cuda::CreateCudaDevice());
    return device->spec();
  }
  if (!absl::StartsWith(target, kEmulator)) return LoadSpec(target);
  TW_ASSIGN_OR_RETURN(DeviceSpec spec,
                      LoadSpec(target == kEmulatedHip ? "mi210" : "h100"));
  spec.set_target(target);
  return spec;
}

absl::StatusOr<std::unique_ptr<backends::Codegen>> CodegenFor(
    const DeviceSpec& spec) {
  if (absl::StartsWith(spec.target(), kCuda))
    return cuda::CreateCudaCodegen(spec);
  if (absl::StartsWith(spec.target(), kHip)) return hip::CreateHipCodegen(spec);
  if (absl::StartsWith(spec.target(), kEmulator)) {
    emulator::EmulatorCodegenOptions options;
    if (spec.target() == kEmulatedHip)
      options.dialect = gpu_text::Dialect::kHip;
    return emulator::CreateEmulatorCodegen(spec, options);
  }
  return cpu::CreateCpuCodegen(spec);
}

absl::StatusOr<std::shared_ptr<backends::Device>> DeviceFor(
    const std::string& target, const cpu::CpuDeviceOptions& of_cpu) {
  std::unique_ptr<backends::Device> device;
  if (absl::StartsWith(target, kCuda)) {
    TW_ASSIGN_OR_RETURN(device, cuda::CreateCudaDevice());
  } else if (absl::StartsWith(target, kHip)) {
    return absl::UnimplementedError(absl::StrCat(
        "no device for ", target,
        ": kernels can be compiled for it, but not run yet; emulator:hip runs "
        "the same texts"));
  } else if (absl::StartsWith(target, kEmulator)) {
    TW_ASSIGN_OR_RETURN(const DeviceSpec spec, GpuSpec(target));
    device = emulator::CreateEmulatorDevice(spec);
  } else {
    TW_ASSIGN_OR_RETURN(device, cpu::CreateCpuDevice(of_cpu));
  }
  return std::shared_ptr<backends::Device>(std::move(device));
}

}  // namespace tilewright::tools
