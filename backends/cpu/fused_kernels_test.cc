// Groups computed tile by tile, as machine code: what the CPU computes is what
// the reference interpreter computes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/case_runner.h"
#include "backends/cpu/hard_inputs.h"
#include "backends/lowering/testing/default_case.h"
#include "backends/spec/device_spec.pb.h"
#include "gtest/gtest.h"
#include "sketch/testing/fused_outputs.h"
#include "sketch/testing/fused_windows.h"
#include "sketch/testing/fused_workloads.h"

namespace tilewright::cpu {
namespace {

using lowering::RandomCase;
using sketch::FusedWorkload;

// Every one in the tile given for it.
void ExpectRight(
    CaseRunner& runner,
    std::vector<std::pair<FusedWorkload, std::vector<int64_t>>> groups) {
  std::vector<RandomCase> batch;
  for (auto& [fused, tile] : groups) {
    fused.plan.tile = tile;
    DeviceSpec spec = runner.spec();  // tasks of several tiles
    spec.mutable_unit()->set_cores(1);
    absl::StatusOr<RandomCase> made =
        lowering::FusedCase(fused, spec, batch.size());
    ASSERT_TRUE(made.ok()) << made.status();
    batch.push_back(*std::move(made));
  }
  const absl::Status status = runner.RunBatch(std::move(batch));
  ASSERT_TRUE(status.ok()) << status;
}

TEST(FusedKernelsTest, GroupsOfModels) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  ExpectRight(*runner,
              {{sketch::Mlp(64, {64, 64, 64, 64}), {32, 64}},
               {sketch::TokenMlp(49, 96, 384), {28, 96}},
               {sketch::Attention(2, 64, 128, 64), {1, 32, 64}},
               {sketch::Attention(6, 49, 49, 32, true), {3, 49, 32}},
               {sketch::Attention(1, 16, 512, 64), {1, 16, 64}},
               {sketch::Attention(2, 3, 70, 64), {1, 1, 64}},
               {sketch::Pointwise(7, 8, {32, 64, 48}), {1, 48, 2, 8}},
               {sketch::InvertedResidual(32, 64, 32, 14, 1), {1, 32, 1, 14}},
               {sketch::InvertedResidual(16, 48, 24, 15, 2), {1, 32, 2, 8}},
               {sketch::InvertedResidual(24, 72, 24, 14, 1,
                                         sketch::WindowLayout::kLast),
                {1, 24, 1, 14}}});
}

// The arguments of a case of SoftmaxProduct as the rows that are hard.
absl::Status SetHardRows(RandomCase& c, int64_t keys) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const auto set = [&](const std::string& name, float* values) {
    if (name != "X") {
      values[3] = kNaN;  // of the first key, which counts nothing in some rows
      return;
    }
    const auto row = [&](int64_t r) { return values + r * keys; };
    std::fill_n(row(1), keys, -kInf);
    std::fill_n(row(2), keys * 2 / 3, -kInf);             // the first blocks
    std::fill_n(row(3) + keys / 3, keys * 2 / 3, -kInf);  // the last
    std::fill_n(row(4), keys, 3.0F);
    row(5)[keys / 2] = kNaN;
    row(6)[keys - 2] = kInf;
    std::fill_n(row(7), keys - 1, -kInf);
    for (int64_t k = 0; k < keys; ++k)
      row(8)[k] = static_cast<float>(k % 7 * 1000);
    for (int64_t k = 0; k < keys; ++k) row(9)[k] = static_cast<float>(-50 * k);
    for (int64_t k = 0; k < keys; ++k) row(10)[k] = static_cast<float>(9 * k);
  };
  return SetInputs(c, set, [](int64_t, double value) {
    return 1e-6 * (1 + std::abs(value));
  });
}

TEST(FusedKernelsTest, SoftmaxThatFollowsBlocksOfKeysIsRightForHardRows) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  std::vector<RandomCase> batch;
  for (const int64_t step : {0, 1, 8, 13, 39, 40}) {
    FusedWorkload fused = sketch::SoftmaxProduct(11, 40, 17);
    fused.plan.tile = {4, 17};
    fused.plan.stages[2].reduce_step = step;
    absl::StatusOr<RandomCase> made =
        lowering::FusedCase(fused, runner->spec(), batch.size());
    ASSERT_TRUE(made.ok()) << step << ": " << made.status();
    if (step > 0 && step < 40)
      EXPECT_NE(made->tree.ToString().find("rescaled"), std::string::npos);
    const absl::Status set = SetHardRows(*made, 40);
    ASSERT_TRUE(set.ok()) << set;
    batch.push_back(*std::move(made));
  }
  const absl::Status status = runner->RunBatch(std::move(batch));
  ASSERT_TRUE(status.ok()) << status;
}

TEST(FusedKernelsTest, OneKeyIsOneBlock) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  const auto in_blocks = [](FusedWorkload fused, int64_t step) {
    fused.plan.stages.back().reduce_step = step;
    return fused;
  };
  ExpectRight(
      *runner,
      {{in_blocks(sketch::SoftmaxProduct(3, 1, 16), 1), {3, 16}},
       {in_blocks(sketch::SoftmaxProduct(5, 2, 16), 1), {2, 16}},
       {in_blocks(sketch::SoftmaxProduct(1, 64, 8), 16), {1, 8}},
       {in_blocks(sketch::Attention(2, 40, 200, 64), 64), {1, 16, 64}},
       {in_blocks(sketch::Attention(2, 33, 96, 32, true), 32), {1, 33, 32}},
       {in_blocks(sketch::Mlp(16, {24, 96, 40}), 32), {8, 40}},
       {in_blocks(sketch::TokenMlp(16, 32, 128), 48), {8, 32}}});
}

TEST(FusedKernelsTest, GroupsOfSeveralOutputs) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  using sketch::GiveOut;
  ExpectRight(
      *runner,
      {{GiveOut(sketch::AddNorm(49, 64, 96, 0), {0}), {28, 96}},
       {GiveOut(sketch::AddNorm(49, 0, 96, 0), {0}), {7, 96}},
       {GiveOut(sketch::AddNorm(50, 64, 48, 96), {0, 1}), {16, 96}},
       {GiveOut(sketch::TokenMlp(49, 96, 384), {0}), {28, 96}},
       {GiveOut(sketch::Mlp(64, {64, 64, 64, 64}), {0, 1}), {32, 64}},
       {GiveOut(sketch::Attention(2, 64, 128, 64), {0, 1}), {1, 32, 64}},
       {GiveOut(sketch::Pointwise(7, 8, {32, 64, 48}), {0}), {1, 48, 2, 8}}});
}

class DrawnFusedKernelsTest : public ::testing::TestWithParam<int> {};

TEST_P(DrawnFusedKernelsTest, ComputeWhatTheReferenceComputes) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  constexpr int kCases = 100;
  DeviceSpec one_core = runner->spec();  // tasks of several tiles
  one_core.mutable_unit()->set_cores(1);
  std::vector<RandomCase> batch;
  for (int i = 0; i < kCases; ++i) {
    const uint64_t seed = GetParam() * kCases + i;
    absl::StatusOr<RandomCase> drawn = lowering::FusedCase(
        seed % 2 == 0 ? sketch::DrawFused(seed) : sketch::DrawWindowChain(seed),
        seed % 3 == 0 ? runner->spec() : one_core, seed);
    ASSERT_TRUE(drawn.ok()) << "seed " << seed << ": " << drawn.status();
    batch.push_back(*std::move(drawn));
    if (batch.size() < kCasesPerModule) continue;
    const absl::Status status = runner->RunBatch(std::move(batch));
    ASSERT_TRUE(status.ok()) << status;
    batch.clear();
  }
}

// Some of their results given out, too.
TEST_P(DrawnFusedKernelsTest, OfSeveralOutputsComputeWhatTheReferenceComputes) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  constexpr int kCases = 50;
  std::vector<RandomCase> batch;
  for (int i = 0; i < kCases; ++i) {
    const uint64_t seed = 5000 + GetParam() * kCases + i;
    absl::StatusOr<RandomCase> drawn =
        lowering::FusedCase(sketch::DrawGivingOut(seed), runner->spec(), seed);
    if (absl::IsInvalidArgument(drawn.status())) continue;  // tiles overlap
    ASSERT_TRUE(drawn.ok()) << "seed " << seed << ": " << drawn.status();
    batch.push_back(*std::move(drawn));
  }
  ASSERT_GE(batch.size(), kCases / 3u);
  const absl::Status status = runner->RunBatch(std::move(batch));
  ASSERT_TRUE(status.ok()) << status;
}

INSTANTIATE_TEST_SUITE_P(Parts, DrawnFusedKernelsTest, ::testing::Range(0, 4));

}  // namespace
}  // namespace tilewright::cpu
