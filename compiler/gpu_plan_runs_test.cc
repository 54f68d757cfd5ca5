// The plan of a GPU is what runs: the kernels of small models have the grid,
// the threads and the scratchpad that their plans say, and where a generator
// made something otherwise than planned, the plan says what.
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen.h"
#include "backends/emulator/codegen/emulator_codegen.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "compiler/compile.h"
#include "compiler/connect_gpu.h"
#include "compiler/kernels/kernel_maker.h"
#include "compiler/test_model.h"
#include "frontends/onnx/import_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/gpu/gpu_tile_plan.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

constexpr char kSimt[] = "simt";

// Planned and generated scratchpad differ by what is listed, tensor by tensor.
int64_t ListedBytes(const GpuTilePlan& tiles) {
  int64_t bytes = 0;
  for (const GpuDifference& difference : tiles.differences)
    if (difference.kind != GpuDifference::Kind::kThreads)
      bytes += difference.generated - difference.planned;
  return bytes;
}

class GpuPlanRunsTest : public testing::TestWithParam<const char*> {};

TEST_P(GpuPlanRunsTest, KernelsAreAsTheirPlansSay) {
  TW_ASSERT_OK_AND_ASSIGN(
      const ImportedModel model,
      ImportModel(absl::StrCat("testdata/", GetParam(), "/model.onnx"), {}));
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec gpu, LoadSpec("h100"));
  const auto codegen = emulator::CreateEmulatorCodegen(gpu);
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *codegen, {}));
  ASSERT_NE(compiled.gpu, nullptr);
  int in_threads = 0, others = 0;
  std::map<std::string, int> differences;
  for (size_t g = 0; g < compiled.plan.groups.size(); ++g) {
    const auto number = static_cast<size_t>(compiled.kernel_of_group[g]);
    const CompiledKernel& kernel = compiled.kernels[number];
    const KernelInfo& info = compiled.program.kernels(static_cast<int>(number));
    SCOPED_TRACE(info.label());
    if (kernel.generator != kSimt) {
      ++others;
      EXPECT_FALSE(kernel.refused.empty());
      std::printf("%s of one thread: %s\n", info.label().c_str(),
                  kernel.refused.empty()
                      ? ""
                      : std::string(kernel.refused[0].message()).c_str());
      continue;
    }
    ++in_threads;
    EXPECT_EQ(info.threads(), kernel.scalar.threads);
    const GpuTilePlan* tiles = TilesOf(*compiled.gpu, compiled.plan.groups[g]);
    if (tiles == nullptr) {
      std::printf("%s was not planned\n", info.label().c_str());
      continue;
    }
    EXPECT_TRUE(tiles->generated);
    EXPECT_EQ(tiles->blocks(), kernel.scalar.num_tasks);
    EXPECT_EQ(tiles->threads, kernel.scalar.threads);
    EXPECT_EQ(tiles->shared_bytes, kernel.scalar.scratch_bytes);
    EXPECT_GT(tiles->occupancy.blocks_per_core, 0);
    for (const GpuDifference& difference : tiles->differences) {
      EXPECT_NE(difference.planned, difference.generated);
      ++differences[ToString(compiled.graph, difference)];
    }
    EXPECT_TRUE(tiles->differences.empty() || ListedBytes(*tiles) != 0 ||
                tiles->differences[0].kind == GpuDifference::Kind::kThreads);
  }
  // Piece by piece, the halos of a ResNet took 60,000 commands.
  std::set<int> zeroed;
  for (const Step& step : compiled.program.steps()) {
    if (!step.has_zero()) continue;
    EXPECT_EQ(step.zero().repeats_size(), 0);
    EXPECT_TRUE(zeroed.insert(step.zero().to().buffer()).second);
  }
  std::printf("%s: %d groups in threads, %d of one thread a task\n", GetParam(),
              in_threads, others);
  for (const auto& [text, count] : differences)
    std::printf("  %d x %s\n", count, text.c_str());
  EXPECT_GT(in_threads, 4 * others);
}

INSTANTIATE_TEST_SUITE_P(Small, GpuPlanRunsTest,
                         testing::Values("mlp_odd", "bert_small",
                                         "mobilenet_v2_small", "resnet18_small",
                                         "swin_small", "unet_small"));

ImportedModel ProductSoftmax() {
  return ModelOf(*ParseText(R"(
    X: f32[256, 64] = placeholder
    W: f32[64, 128] = placeholder
    P: f32[256, 128] = compute (m: 256, n: 128) reduce (k: 64) sum:f32 {
      X[m, k] * W[k, n] }
    M: f32[256] = compute (m: 256) reduce (n: 128) max:f32 { P[m, n] }
    E: f32[256, 128] = compute (m: 256, n: 128) { exp(P[m, n] - M[m]) }
    L: f32[256] = compute (m: 256) reduce (n: 128) sum:f32 { E[m, n] }
    Y: f32[256, 128] = compute (m: 256, n: 128) { E[m, n] / L[m] }
    return Y)"));
}

// Whatever the generator refuses, something simpler compiles, and the program
// says why.
TEST(GpuFallbacksTest, WithoutThreadsKernelsAreOfOneThreadATask) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec gpu, LoadSpec("h100"));
  const auto codegen = emulator::CreateEmulatorCodegen(gpu);
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel usual,
                          Compile(ProductSoftmax(), *codegen, {}));
  for (const KernelInfo& kernel : usual.program.kernels()) {
    EXPECT_EQ(kernel.generator(), kSimt);
    EXPECT_GT(kernel.threads(), 0);
  }
  CompileOptions options;
  options.admit = [](const std::string& generator) {
    return generator == kSimt ? absl::InternalError("made to fail")
                              : absl::OkStatus();
  };
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel plain,
                          Compile(ProductSoftmax(), *codegen, options));
  ASSERT_GT(plain.program.kernels_size(), 0);
  for (const KernelInfo& kernel : plain.program.kernels()) {
    EXPECT_EQ(kernel.threads(), 0);
    ASSERT_GT(kernel.refused_size(), 0);
    EXPECT_THAT(kernel.refused(0), HasSubstr("simt: made to fail"));
  }
  for (const Group& group : plain.plan.groups)
    EXPECT_TRUE(group.stages.empty());
}

// Each tile that is kept first wants more scratchpad in its schedule than a
// block has: copies of 1021 terms end in a step of their own.
TEST(GpuFallbacksTest, WhereTilesWantTooMuchSmallerOnesArePlanned) {
  TW_ASSERT_OK_AND_ASSIGN(const DeviceSpec gpu, LoadSpec("h100"));
  const auto codegen = emulator::CreateEmulatorCodegen(gpu);
  const ImportedModel model = ModelOf(*ParseText(R"(
    X: f32[1, 1021, 16, 16] = placeholder
    W: f32[384, 1021] = placeholder
    R: f32[1, 384, 16, 16] = placeholder
    P: f32[1, 384, 16, 16] = compute (n: 1, o: 384, h: 16, w: 16)
      reduce (c: 1021) sum:f32 { X[n, c, h, w] * W[o, c] }
    Y: f32[1, 384, 16, 16] = compute (n: 1, o: 384, h: 16, w: 16) {
      R[n, o, h, w] + P[n, o, h, w] }
    return Y)"));
  TW_ASSERT_OK_AND_ASSIGN(const CompiledModel compiled,
                          Compile(model, *codegen, {}));
  for (const KernelInfo& kernel : compiled.program.kernels())
    EXPECT_GT(kernel.threads(), 0) << kernel.label();
}

}  // namespace
}  // namespace tilewright
