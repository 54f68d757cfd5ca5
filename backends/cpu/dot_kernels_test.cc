// Random contractions of narrow numbers under their default schedules, as
// machine code: what the CPU computes is what the reference interpreter
// computes.
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/cpu/case_runner.h"
#include "backends/lowering/testing/default_case.h"
#include "gtest/gtest.h"
#include "sketch/testing/dot_workloads.h"

namespace tilewright::cpu {
namespace {

using lowering::RandomCase;

constexpr int kParts = 4;
constexpr uint64_t kCases = 400;

class DotKernelsTest : public ::testing::TestWithParam<int> {};

TEST_P(DotKernelsTest, ComputeWhatTheReferenceComputes) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  const uint64_t end = kCases * (GetParam() + 1) / kParts;
  for (uint64_t seed = kCases * GetParam() / kParts; seed < end;) {
    std::vector<RandomCase> batch;
    for (; seed < end && batch.size() < kCasesPerModule; ++seed) {
      absl::StatusOr<RandomCase> drawn =
          lowering::DefaultCase(sketch::DrawDot(seed), runner->spec(), seed);
      ASSERT_TRUE(drawn.ok()) << "seed " << seed << ": " << drawn.status();
      batch.push_back(*std::move(drawn));
    }
    const absl::Status status = runner->RunBatch(std::move(batch));
    ASSERT_TRUE(status.ok()) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, DotKernelsTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::cpu
