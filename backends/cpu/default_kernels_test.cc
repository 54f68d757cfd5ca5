// Random workloads of every family under their default schedules, as machine
// code: what the CPU computes is what the reference interpreter computes.
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/cpu/case_runner.h"
#include "backends/lowering/testing/default_case.h"
#include "gtest/gtest.h"

namespace tilewright::cpu {
namespace {

using lowering::RandomCase;

constexpr int kParts = 4;
constexpr uint64_t kCases = 400;  // of every family

class DefaultKernelsTest
    : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(DefaultKernelsTest, ComputeWhatTheReferenceComputes) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  const auto [family, part] = GetParam();
  const uint64_t end = kCases * (part + 1) / kParts;
  for (uint64_t seed = kCases * part / kParts; seed < end;) {
    std::vector<RandomCase> batch;
    for (; seed < end && batch.size() < kCasesPerModule; ++seed) {
      absl::StatusOr<RandomCase> drawn = lowering::DefaultCase(
          lowering::kFamilies[family].draw(seed), runner->spec(), seed);
      ASSERT_TRUE(drawn.ok()) << "seed " << seed << ": " << drawn.status();
      batch.push_back(*std::move(drawn));
    }
    const absl::Status status = runner->RunBatch(std::move(batch));
    ASSERT_TRUE(status.ok())
        << lowering::kFamilies[family].name << ": " << status;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Parts, DefaultKernelsTest,
    ::testing::Combine(::testing::Range<int>(0, std::size(lowering::kFamilies)),
                       ::testing::Range(0, kParts)));

}  // namespace
}  // namespace tilewright::cpu
