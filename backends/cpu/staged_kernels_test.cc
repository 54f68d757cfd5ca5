// Groups computed tile by tile, as machine code: what the CPU computes is what
// the reference interpreter computes.
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/cpu/case_runner.h"
#include "backends/lowering/default_case.h"
#include "backends/spec/device_spec.pb.h"
#include "gtest/gtest.h"
#include "sketch/staged_windows.h"
#include "sketch/staged_workloads.h"

namespace tilewright::cpu {
namespace {

using lowering::RandomCase;
using sketch::StagedWorkload;

// Every one in the tile given for it.
void ExpectRight(
    CaseRunner& runner,
    std::vector<std::pair<StagedWorkload, std::vector<int64_t>>> groups) {
  std::vector<RandomCase> batch;
  for (auto& [staged, tile] : groups) {
    staged.plan.tile = tile;
    DeviceSpec spec = runner.spec();  // tasks of several tiles
    spec.mutable_unit()->set_cores(1);
    absl::StatusOr<RandomCase> made =
        lowering::StagedCase(staged, spec, batch.size());
    ASSERT_TRUE(made.ok()) << made.status();
    batch.push_back(*std::move(made));
  }
  const absl::Status status = runner.RunBatch(std::move(batch));
  ASSERT_TRUE(status.ok()) << status;
}

TEST(StagedKernelsTest, GroupsOfModels) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  ExpectRight(*runner,
              {{sketch::Mlp(64, {64, 64, 64, 64}), {32, 64}},
               {sketch::TokenMlp(49, 96, 384), {28, 96}},
               {sketch::Attention(2, 64, 128, 64), {1, 32, 64}},
               {sketch::Attention(6, 49, 49, 32, true), {3, 49, 32}},
               {sketch::Attention(1, 16, 512, 64), {1, 16, 64}},
               {sketch::Pointwise(7, 8, {32, 64, 48}), {1, 48, 2, 8}},
               {sketch::InvertedResidual(32, 64, 32, 14, 1), {1, 32, 1, 14}},
               {sketch::InvertedResidual(16, 48, 24, 15, 2), {1, 32, 2, 8}},
               {sketch::InvertedResidual(24, 72, 24, 14, 1,
                                         sketch::WindowLayout::kLast),
                {1, 24, 1, 14}}});
}

class DrawnStagedKernelsTest : public ::testing::TestWithParam<int> {};

TEST_P(DrawnStagedKernelsTest, ComputeWhatTheReferenceComputes) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  constexpr int kCases = 100;
  DeviceSpec one_core = runner->spec();  // tasks of several tiles
  one_core.mutable_unit()->set_cores(1);
  std::vector<RandomCase> batch;
  for (int i = 0; i < kCases; ++i) {
    const uint64_t seed = GetParam() * kCases + i;
    absl::StatusOr<RandomCase> drawn =
        lowering::StagedCase(seed % 2 == 0 ? sketch::DrawStaged(seed)
                                           : sketch::DrawWindowChain(seed),
                             seed % 3 == 0 ? runner->spec() : one_core, seed);
    ASSERT_TRUE(drawn.ok()) << "seed " << seed << ": " << drawn.status();
    batch.push_back(*std::move(drawn));
    if (batch.size() < kCasesPerModule) continue;
    const absl::Status status = runner->RunBatch(std::move(batch));
    ASSERT_TRUE(status.ok()) << status;
    batch.clear();
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, DrawnStagedKernelsTest, ::testing::Range(0, 4));

}  // namespace
}  // namespace tilewright::cpu
