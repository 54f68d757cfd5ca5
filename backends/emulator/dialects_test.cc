// Texts of random kernels are CUDA and HIP to the compilers of both: clang for
// PTX and GCN (which needs no toolkit), NVRTC and HIPRTC where they are
// installed.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/codegen.h"
#include "backends/cuda/codegen/cuda_codegen.h"
#include "backends/emulator/codegen/host_compiler.h"
#include "backends/gpu_text/prelude.h"
#include "backends/gpu_text/text.h"
#include "backends/hip/codegen/hip_codegen.h"
#include "backends/kernel_ir/builder.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/kernel_ir/testing/draw_threaded.h"
#include "backends/kernel_ir/testing/threaded_cases.h"
#include "backends/lowering/testing/default_case.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/testing/simt_case.h"
#include "backends/lowering/vectorize/gpu_thread.h"
#include "backends/spec/load_spec.h"
#include "base/check.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/simt/block_tile.h"
#include "sketch/testing/test_workloads.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::emulator {
namespace {

using gpu_text::Dialect;
using kernel_ir::ScalarKernel;
using ::testing::HasSubstr;

// Integers of floats, which saturate, beside the least integers of their types.
ScalarKernel SaturatingCasts(int lanes) {
  kernel_ir::ScalarBuilder b(absl::StrCat("casts", lanes), 8);
  const int x =
      b.AddArgument("x", DType::kFloat32, kernel_ir::Role::kInput, 8 * lanes);
  const kernel_ir::Reg at = b.Mul(b.task(), b.Int(lanes));
  for (const DType to : {DType::kInt8, DType::kUInt8, DType::kInt32,
                         DType::kUInt32, DType::kInt64, DType::kUInt64}) {
    const int y = b.AddArgument(absl::StrCat("y_", std::string(Name(to))), to,
                                kernel_ir::Role::kOutput, 8 * lanes);
    const kernel_ir::Reg cast = b.Cast(to, b.Load(x, at, 0, lanes));
    const kernel_ir::Reg least =
        b.Int(to == DType::kInt64   ? std::numeric_limits<int64_t>::min()
              : to == DType::kInt32 ? std::numeric_limits<int32_t>::min()
                                    : 0,
              to, lanes);
    b.Store(y, at, 0, b.Max(cast, least));
  }
  return std::move(b).Finish();
}

// Any schedules, the default ones of every family, and casts.
std::vector<ScalarKernel> Kernels() {
  const absl::StatusOr<DeviceSpec> spec = LoadSpec("h100");
  TW_CHECK_OK(spec);
  std::vector<lowering::RandomCase> cases;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    absl::StatusOr<lowering::RandomCase> drawn = lowering::DrawCase(seed);
    TW_CHECK_OK(drawn);
    cases.push_back(*std::move(drawn));
    if (seed > 8) continue;
    for (const lowering::Family& family : lowering::kFamilies) {
      drawn = lowering::DefaultCase(family.draw(seed), *spec, seed);
      TW_CHECK_OK(drawn);
      cases.push_back(*std::move(drawn));
    }
  }
  std::vector<ScalarKernel> kernels = {SaturatingCasts(1), SaturatingCasts(4)};
  for (const lowering::RandomCase& drawn : cases) {
    absl::StatusOr<ScalarKernel> kernel =
        lowering::LegalizeForGpuThread(drawn.kernel);
    TW_CHECK_OK(kernel);
    kernel->name = absl::StrCat("k", kernels.size());
    if (kernel->scratch_bytes > spec->unit().scratchpad_bytes_per_block())
      continue;
    kernels.push_back(*std::move(kernel));
  }
  return kernels;
}

// By hand, and drawn.
std::vector<ScalarKernel> KernelsWithThreads() {
  std::vector<ScalarKernel> kernels;
  for (kernel_ir::ThreadedCase& test : kernel_ir::AllThreadedCases())
    kernels.push_back(std::move(test.kernel));
  for (uint64_t seed = 1; seed <= 5; ++seed)
    kernels.push_back(kernel_ir::DrawThreaded(seed).kernel);
  return kernels;
}

// A product of 128 x 128 x 64 in one block of 256 threads, 8 x 8 elements each.
ScalarKernel LargeProduct(const std::string& name, int64_t stages, bool async,
                          int64_t swizzle) {
  sketch::BlockTile tile;
  tile.tile = {128, 128};
  tile.threads = {16, 16};
  tile.vector = 4;
  tile.step = 16;
  tile.stages = stages;
  tile.async = async;
  tile.swizzle = swizzle;
  const absl::StatusOr<lowering::RandomCase> product =
      lowering::SimtCase(sketch::GemmRelu(128, 128, 64), tile, /*seed=*/1);
  TW_CHECK_OK(product);
  absl::StatusOr<ScalarKernel> kernel =
      lowering::LegalizeForGpuThread(product->kernel);
  TW_CHECK_OK(kernel);
  kernel->name = name;
  return *std::move(kernel);
}

// Steps' operands in scratch at a time.
constexpr int64_t kBuffers[] = {1, 1, 2, 1, 2, 3, 4};
constexpr size_t kProducts = std::size(kBuffers);

// That product in seven forms, and what is drawn of every family.
std::vector<ScalarKernel> KernelsOfSchedules() {
  std::vector<ScalarKernel> kernels = {LargeProduct("product", 1, false, 1),
                                       LargeProduct("ahead", 2, false, 1),
                                       LargeProduct("ahead2", 3, false, 1),
                                       LargeProduct("swizzled", 1, false, 4),
                                       LargeProduct("async2", 2, true, 1),
                                       LargeProduct("async3", 3, true, 1),
                                       LargeProduct("async4", 4, true, 1)};
  for (const char* const family : lowering::kSimtFamilies) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      const absl::StatusOr<lowering::RandomCase> drawn =
          lowering::DrawSimtCase(family, seed);
      if (!drawn.ok()) continue;  // some have no tiles
      absl::StatusOr<ScalarKernel> kernel =
          lowering::LegalizeForGpuThread(drawn->kernel);
      TW_CHECK_OK(kernel);
      kernel->name = absl::StrCat(family, seed);
      // NVRTC takes seconds for longer ones.
      if (gpu_text::KernelText(*kernel)->size() < 16000)
        kernels.push_back(*std::move(kernel));
    }
  }
  return kernels;
}

// One that takes every kernel.
DeviceSpec AnyGpu() {
  DeviceSpec gpu;
  gpu.mutable_unit()->set_scratchpad_bytes_per_block(1 << 20);
  gpu.mutable_unit()->set_max_threads_per_block(1024);
  gpu.mutable_unit()->set_warp_size(32);
  return gpu;
}

// Assembly of the kernels by clang alone.
absl::StatusOr<std::string> ByClang(Dialect dialect,
                                    const std::vector<ScalarKernel>& kernels) {
  const bool cuda = dialect == Dialect::kCuda;
  std::ifstream header("backends/emulator/testdata/without_toolkit.h");
  const std::string declarations(std::istreambuf_iterator<char>(header), {});
  const absl::StatusOr<std::vector<std::string>> text =
      gpu_text::KernelTexts(kernels, AnyGpu());
  if (!text.ok()) return text.status();
  std::vector<std::string> flags = {
      "-std=c++17",
      "-O1",
      "-S",
      "--cuda-device-only",
      "-nogpulib",
      "-ffp-contract=off",
      "-x",
      cuda ? "cuda" : "hip",
      "-Wno-unknown-cuda-version",
      "-nogpuinc",
      cuda ? "--offload-arch=sm_80" : "--offload-arch=gfx906"};
  // Exchanges of registers came with that version of PTX.
  if (cuda) {
    for (const char* flag : {"-Xclang", "-target-feature", "-Xclang", "+ptx70"})
      flags.push_back(flag);
  }
  return RunCompiler({"clang++", "clang++-19", "clang++-14"}, flags,
                     cuda ? "kernels.cu" : "kernels.hip",
                     absl::StrCat(declarations, gpu_text::Prelude(dialect),
                                  absl::StrJoin(*text, "\n")));
}

class DialectTest : public ::testing::TestWithParam<Dialect> {};

TEST_P(DialectTest, ClangMakesAssemblyOfIt) {
  std::vector<ScalarKernel> kernels = Kernels();
  ASSERT_GT(kernels.size(), 30u);
  for (ScalarKernel& kernel : KernelsWithThreads())
    kernels.push_back(std::move(kernel));
  for (ScalarKernel& kernel : KernelsOfSchedules())
    kernels.push_back(std::move(kernel));
  const absl::StatusOr<std::string> assembly = ByClang(GetParam(), kernels);
  if (absl::IsFailedPrecondition(assembly.status()))
    GTEST_SKIP() << assembly.status().message();
  TW_ASSERT_OK(assembly.status());
  for (const ScalarKernel& kernel : kernels) {
    EXPECT_THAT(*assembly, HasSubstr(kernel.name));
  }
}

INSTANTIATE_TEST_SUITE_P(Dialects, DialectTest,
                         ::testing::Values(Dialect::kCuda, Dialect::kHip));

TEST(CudaCodegenTest, NvrtcMakesCubinsForEveryArchitecture) {
  std::vector<ScalarKernel> kernels = Kernels();
  kernels.resize(12);  // half a second each
  for (ScalarKernel& kernel : KernelsWithThreads())
    kernels.push_back(std::move(kernel));
  for (const char* gpu : {"t4", "a100", "h100"}) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(gpu));
    const auto codegen = cuda::CreateCudaCodegen(spec);
    if (absl::IsFailedPrecondition(codegen.status()))
      GTEST_SKIP() << codegen.status().message();
    TW_ASSERT_OK(codegen.status());
    TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                            (*codegen)->Emit(kernels));
    EXPECT_EQ(module.target, spec.target());
    for (const backends::KernelReport& report : module.kernels)
      EXPECT_GT(report.code_bytes, 0) << report.name << " for " << gpu;
  }
}

TEST(HipCodegenTest, HiprtcMakesCodeObjectsForEveryArchitecture) {
  std::vector<ScalarKernel> kernels = Kernels();
  kernels.resize(12);
  for (ScalarKernel& kernel : KernelsWithThreads())
    kernels.push_back(std::move(kernel));
  for (const char* gpu : {"mi50", "mi210"}) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(gpu));
    const auto codegen = hip::CreateHipCodegen(spec);
    if (absl::IsFailedPrecondition(codegen.status()))
      GTEST_SKIP() << codegen.status().message();
    TW_ASSERT_OK(codegen.status());
    TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                            (*codegen)->Emit(kernels));
    EXPECT_EQ(module.target, spec.target());
    for (size_t i = 0; i < kernels.size(); ++i) {
      const backends::KernelReport& report = module.kernels[i];
      EXPECT_GT(report.code_bytes, 0) << report.name << " for " << gpu;
      ASSERT_TRUE(report.registers.has_value()) << report.name;
      EXPECT_GT(*report.registers, 0) << report.name;
      EXPECT_LE(*report.registers, 512) << report.name;
      EXPECT_EQ(report.shared_bytes, kernels[i].scratch_bytes) << report.name;
    }
  }
}

TEST(HipCodegenTest, SaysWhatItIsNotFor) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("h100"));
  EXPECT_THAT(hip::CreateHipCodegen(spec),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("h100")));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec gpu, LoadSpec("mi210"));
  EXPECT_THAT(hip::CreateHipCodegen(gpu, "/nowhere/libhiprtc.so"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("/nowhere/libhiprtc.so")));
}

TEST(CudaCodegenTest, ReportsSayWhatKernelsOfSchedulesTake) {
  const std::vector<ScalarKernel> kernels = KernelsOfSchedules();
  ASSERT_GT(kernels.size(), 16u);
  for (const char* gpu : {"t4", "a100", "h100"}) {
    TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec(gpu));
    const auto codegen = cuda::CreateCudaCodegen(spec);
    if (absl::IsFailedPrecondition(codegen.status()))
      GTEST_SKIP() << codegen.status().message();
    TW_ASSERT_OK(codegen.status());
    TW_ASSERT_OK_AND_ASSIGN(const backends::Module module,
                            (*codegen)->Emit(kernels));
    ASSERT_EQ(module.kernels.size(), kernels.size());
    for (size_t i = 0; i < kernels.size(); ++i) {
      const backends::KernelReport& report = module.kernels[i];
      ASSERT_TRUE(report.registers.has_value()) << report.name;
      EXPECT_GT(*report.registers, 0) << report.name;
      EXPECT_LE(*report.registers, 255) << report.name;
      EXPECT_EQ(report.shared_bytes, kernels[i].scratch_bytes) << report.name;
      EXPECT_TRUE(report.spill_bytes.has_value()) << report.name;
    }
    for (size_t i = 0; i < kProducts; ++i) {
      const backends::KernelReport& product = module.kernels[i];
      std::cout << gpu << ", " << product.name << ": " << *product.registers
                << " registers, " << *product.shared_bytes << " bytes shared, "
                << *product.spill_bytes << " bytes of spills\n";
      // Sums and operands, 64 + 16 at least; two steps of 128 x 16.
      EXPECT_GE(*product.registers, 80);
      EXPECT_EQ(*product.shared_bytes, kBuffers[i] * 2 * 128 * 16 * 4);
      EXPECT_EQ(*product.spill_bytes, 0);
    }
  }
}

TEST(CudaCodegenTest, SaysWhatItIsNotFor) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec spec, LoadSpec("mi210"));
  EXPECT_THAT(cuda::CreateCudaCodegen(spec),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("mi210")));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec gpu, LoadSpec("h100"));
  EXPECT_THAT(cuda::CreateCudaCodegen(gpu, "/nowhere/libnvrtc.so"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("/nowhere/libnvrtc.so")));
}

}  // namespace
}  // namespace tilewright::emulator
