// Random graphs under random legal schedules, as machine code: what the CPU
// computes is what the reference interpreter computes, with every buffer ending
// or beginning at an inaccessible page.
//
// TILEWRIGHT_RANDOM_CASES sets the number of cases over all shards (2000 by
// default), TILEWRIGHT_RANDOM_SEED the first seed.
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "backends/cpu/case_runner.h"
#include "backends/lowering/testing/random_case.h"
#include "gtest/gtest.h"

namespace tilewright::cpu {
namespace {

using lowering::RandomCase;

constexpr int kParts = 8;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

class RandomKernelsTest : public ::testing::TestWithParam<int> {};

TEST_P(RandomKernelsTest, ComputeWhatTheReferenceComputes) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 2000);
  const int64_t first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 1);
  const int64_t begin = first + cases * GetParam() / kParts,
                end = first + cases * (GetParam() + 1) / kParts;
  for (int64_t seed = begin; seed < end;) {
    std::vector<RandomCase> batch;
    for (; seed < end && static_cast<int>(batch.size()) < kCasesPerModule;
         ++seed) {
      absl::StatusOr<RandomCase> drawn =
          lowering::DrawCase(static_cast<uint64_t>(seed));
      ASSERT_TRUE(drawn.ok()) << "seed " << seed << ": " << drawn.status();
      batch.push_back(*std::move(drawn));
    }
    const absl::Status status = runner->RunBatch(std::move(batch));
    ASSERT_TRUE(status.ok()) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomKernelsTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::cpu
