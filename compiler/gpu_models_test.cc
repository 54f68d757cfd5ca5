// Small models as GPU text: compiled, loaded into memory that the host cannot
// reach, and run. Both dialects, on the emulator and through the CUDA device on
// a fake driver, give the same bits; the CPU's code gives the same values.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen.h"
#include "backends/cpu/codegen/cpu_codegen.h"
#include "backends/cpu/device/cpu_device.h"
#include "backends/cuda/codegen_for_fake_driver.h"
#include "backends/cuda/device/cuda_device.h"
#include "backends/cuda/device/fake_driver_handle.h"
#include "backends/device.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/emulator/device/emulator_device.h"
#include "backends/gpu_text/prelude.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "compiler/test_model.h"
#include "frontends/onnx/import_model.h"
#include "gtest/gtest.h"
#include "runtime/model.h"
#include "runtime/session.h"

namespace tilewright {
namespace {

std::vector<HostTensor> RandomInputsOf(const ImportedModel& model) {
  Random random(1);
  std::vector<HostTensor> inputs;
  for (const Port& port : model.inputs) {
    HostTensor tensor(port.dtype, port.shape);
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      tensor.Set(i, {random.Normal(), 1});  // a token; not masked
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

absl::StatusOr<std::vector<HostTensor>> RunOn(
    const ImportedModel& model, const backends::Codegen& codegen,
    std::shared_ptr<backends::Device> device) {
  TW_ASSIGN_OR_RETURN(const CompiledModel compiled,
                      Compile(model, codegen, {}));
  TW_ASSIGN_OR_RETURN(const auto loaded, Model::FromBytes(compiled.Serialize(),
                                                          std::move(device)));
  TW_ASSIGN_OR_RETURN(const auto session, Session::Create(loaded));
  // The second run finds what the first one left.
  const std::vector<HostTensor> inputs = RandomInputsOf(model);
  TW_RETURN_IF_ERROR(RunSession(*session, model, inputs).status());
  return RunSession(*session, model, inputs);
}

void ExpectNear(const HostTensor& got, const HostTensor& want) {
  double largest = 0;
  for (int64_t i = 0; i < want.num_elements(); ++i)
    largest = std::max(largest, std::abs(want.Get(i).f));
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    ASSERT_NEAR(got.Get(i).f, want.Get(i).f, 2e-5 * largest) << i;
  }
}

class GpuModelsTest : public testing::TestWithParam<const char*> {};

TEST_P(GpuModelsTest, TextsComputeWhatTheCpuComputes) {
  TW_ASSERT_OK_AND_ASSIGN(
      const ImportedModel model,
      ImportModel(absl::StrCat("testdata/", GetParam(), "/model.onnx"), {}));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec host, HostSpec());
  TW_ASSERT_OK_AND_ASSIGN(const auto cpu, cpu::CreateCpuCodegen(host));
  TW_ASSERT_OK_AND_ASSIGN(auto cpu_device, cpu::CreateCpuDevice({1}));
  TW_ASSERT_OK_AND_ASSIGN(const auto want,
                          RunOn(model, *cpu, std::move(cpu_device)));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec gpu, LoadSpec("h100"));
  emulator::EmulatorCodegenOptions checked, hip;
  checked.checked = true;
  hip.dialect = gpu_text::Dialect::kHip;
  const auto as_cuda = emulator::CreateEmulatorCodegen(gpu, checked),
             as_hip = emulator::CreateEmulatorCodegen(gpu, hip);
  TW_ASSERT_OK_AND_ASSIGN(
      const auto emulated,
      RunOn(model, *as_cuda, emulator::CreateEmulatorDevice(gpu)));
  TW_ASSERT_OK_AND_ASSIGN(
      const auto emulated_hip,
      RunOn(model, *as_hip, emulator::CreateEmulatorDevice(gpu)));
  cuda::CudaDeviceOptions options;
  options.driver_library = absl::StrCat("./", cuda::kFakeDriver);
  options.use_profiler = false;
  TW_ASSERT_OK_AND_ASSIGN(auto cuda_device, cuda::CreateCudaDevice(options));
  TW_ASSERT_OK_AND_ASSIGN(const auto through_driver,
                          RunOn(model,
                                *cuda::CodegenForFakeDriver(
                                    emulator::CreateEmulatorCodegen(gpu), gpu),
                                std::move(cuda_device)));
  for (size_t i = 0; i < want.size(); ++i) {
    ExpectNear(emulated[i], want[i]);
    const auto bytes = [&](const HostTensor& tensor) {
      return std::string(tensor.data(),
                         static_cast<size_t>(tensor.size_bytes()));
    };
    EXPECT_EQ(bytes(emulated_hip[i]), bytes(emulated[i]));
    EXPECT_EQ(bytes(through_driver[i]), bytes(emulated[i]));
  }
}

INSTANTIATE_TEST_SUITE_P(Small, GpuModelsTest,
                         testing::Values("mlp_odd", "bert_small",
                                         "mobilenet_v2_small_fp16",
                                         "resnet18_small", "swin_small",
                                         "unet_small"));

}  // namespace
}  // namespace tilewright
