// Small models as GPU text, in blocks of threads: compiled, loaded into memory
// that the host cannot reach, and run. Both dialects, on the emulator with its
// search for races and through the CUDA device on a fake driver, give the bits
// of the scalar tier's interpreter; the CPU's code gives the same values. A
// model takes a minute; most wait until TILEWRIGHT_ALL_MODELS is set.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
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
#include "compiler/interpreted_model.h"
#include "compiler/test_model.h"
#include "frontends/onnx/import_model.h"
#include "gtest/gtest.h"
#include "runtime/model.h"
#include "runtime/session.h"
#include "tilegraph/expr/dtype.h"
#include "tilegraph/gpu/gpu_kernels.h"
#include "tilegraph/ir/tensor_graph.h"

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
    const ImportedModel& model, const CompiledModel& compiled,
    std::shared_ptr<backends::Device> device) {
  TW_ASSIGN_OR_RETURN(const auto loaded, Model::FromBytes(compiled.Serialize(),
                                                          std::move(device)));
  TW_ASSIGN_OR_RETURN(const auto session, Session::Create(loaded));
  // The second run finds what the first one left.
  const std::vector<HostTensor> inputs = RandomInputsOf(model);
  TW_RETURN_IF_ERROR(RunSession(*session, model, inputs).status());
  return RunSession(*session, model, inputs);
}

// Values of 16 bits are rounded where kernels end, which differ.
bool HasShortFloats(const TensorGraph& graph) {
  return std::any_of(graph.tensors().begin(), graph.tensors().end(),
                     [](const Tensor& tensor) {
                       return tensor.dtype == DType::kFloat16 ||
                              tensor.dtype == DType::kBFloat16;
                     });
}

void ExpectNear(const HostTensor& got, const HostTensor& want, double share) {
  double largest = 0;
  for (int64_t i = 0; i < want.num_elements(); ++i)
    largest = std::max(largest, std::abs(want.Get(i).f));
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    ASSERT_NEAR(got.Get(i).f, want.Get(i).f, share * largest) << i;
  }
}

// What was planned, whatever it is compiled to.
std::string PlanText(const CompiledModel& compiled) {
  std::string text = ToString(compiled.graph, compiled.gpu->plan);
  for (const GpuKernel& kernel : compiled.gpu->plan.kernels) {
    const int group = kernel.groups.front();
    text += WhyText(compiled.graph, compiled.gpu->plan, group);
  }
  for (const KernelInfo& kernel : compiled.program.kernels())
    absl::StrAppend(&text, kernel.schedule(), "\n");
  return text;
}

class GpuModelsTest : public testing::TestWithParam<const char*> {};

std::string BytesOf(const HostTensor& tensor) {
  return std::string(tensor.data(), static_cast<size_t>(tensor.size_bytes()));
}

constexpr const char* kAlways[] = {
    "bert_small", "mlp_odd",        "mobilenet_v2_small_fp16",
    "nerf_small", "resnet18_small", "swin_small",
    "unet_small"};

TEST_P(GpuModelsTest, TextsComputeWhatTheInterpreterComputes) {
  const bool always = std::find(std::begin(kAlways), std::end(kAlways),
                                std::string(GetParam())) != std::end(kAlways);
  if (!always && std::getenv("TILEWRIGHT_ALL_MODELS") == nullptr)
    GTEST_SKIP() << "it takes a minute: set TILEWRIGHT_ALL_MODELS";
  TW_ASSERT_OK_AND_ASSIGN(
      const ImportedModel model,
      ImportModel(absl::StrCat("testdata/", GetParam(), "/model.onnx"), {}));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec host, HostSpec());
  TW_ASSERT_OK_AND_ASSIGN(const auto cpu, cpu::CreateCpuCodegen(host));
  TW_ASSERT_OK_AND_ASSIGN(auto cpu_device, cpu::CreateCpuDevice({1}));
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel for_cpu,
                          Compile(model, *cpu, {}));
  TW_ASSERT_OK_AND_ASSIGN(const auto want,
                          RunOn(model, for_cpu, std::move(cpu_device)));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec gpu, LoadSpec("h100"));
  emulator::EmulatorCodegenOptions checked, hip;
  checked.checked = true;
  hip.dialect = gpu_text::Dialect::kHip;
  hip.checked = true;
  const auto as_cuda = emulator::CreateEmulatorCodegen(gpu, checked),
             as_hip = emulator::CreateEmulatorCodegen(gpu, hip);
  CompileOptions alone, together;
  alone.gpu.threads = 1;
  together.gpu.threads = 3;
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel for_cuda,
                          Compile(model, *as_cuda, alone));
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel for_hip,
                          Compile(model, *as_hip, together));
  EXPECT_EQ(PlanText(for_hip), PlanText(for_cuda)) << "by several threads";
  TW_ASSERT_OK_AND_ASSIGN(const auto interpreted,
                          InterpretModel(for_cuda, RandomInputsOf(model)));
  TW_ASSERT_OK_AND_ASSIGN(
      const auto emulated,
      RunOn(model, for_cuda, emulator::CreateEmulatorDevice(gpu)));
  TW_ASSERT_OK_AND_ASSIGN(
      const auto emulated_hip,
      RunOn(model, for_hip, emulator::CreateEmulatorDevice(gpu)));
  cuda::CudaDeviceOptions options;
  options.driver_library = absl::StrCat("./", cuda::kFakeDriver);
  options.use_profiler = false;
  TW_ASSERT_OK_AND_ASSIGN(auto cuda_device, cuda::CreateCudaDevice(options));
  TW_ASSERT_OK_AND_ASSIGN(
      const CompiledModel for_driver,
      Compile(model,
              *cuda::CodegenForFakeDriver(emulator::CreateEmulatorCodegen(gpu),
                                          gpu),
              {}));
  TW_ASSERT_OK_AND_ASSIGN(const auto through_driver,
                          RunOn(model, for_driver, std::move(cuda_device)));
  const double share = HasShortFloats(model.graph) ? 1e-2 : 2e-5;
  for (size_t i = 0; i < want.size(); ++i) {
    ExpectNear(emulated[i], want[i], share);
    EXPECT_EQ(BytesOf(emulated[i]), BytesOf(interpreted[i]));
    EXPECT_EQ(BytesOf(emulated_hip[i]), BytesOf(interpreted[i]));
    EXPECT_EQ(BytesOf(through_driver[i]), BytesOf(interpreted[i]));
  }
  for (const KernelInfo& kernel : for_cuda.program.kernels()) {
    for (const std::string& refused : kernel.refused())
      std::printf("%s by '%s' after %s\n", kernel.label().c_str(),
                  kernel.generator().c_str(), refused.c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Small, GpuModelsTest,
    testing::Values("bert_small", "bert_small_fp16", "bsrn_small",
                    "conformer_small", "convnext_small", "mlp64_small",
                    "mlp_odd", "mobilenet_v2_small", "mobilenet_v2_small_fp16",
                    "mobilevit_small", "nafnet_small", "nerf_small",
                    "resnet18_small", "resnet18_small_int8", "resnet50_small",
                    "restormer_small", "swin_small", "unet_small",
                    "vgg16_small", "vit_small"));

}  // namespace
}  // namespace tilewright
