// Groups of every family under random tables of decisions, as machine code:
// what the CPU computes is what the reference interpreter computes, with every
// buffer ending or beginning at an inaccessible page.
//
// TILEWRIGHT_RANDOM_CASES sets the number of cases over all shards (200 by
// default), TILEWRIGHT_RANDOM_SEED the first seed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cpu/case_runner.h"
#include "backends/lowering/testing/decided_case.h"
#include "backends/lowering/testing/random_case.h"
#include "gtest/gtest.h"
#include "sketch/testing/sample_groups.h"
#include "tilegraph/decision/policies.h"

namespace tilewright::cpu {
namespace {

using lowering::DecidedCase;
using lowering::RandomCase;

constexpr int kParts = 4;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

class DecidedKernelsTest : public ::testing::TestWithParam<int> {};

TEST_P(DecidedKernelsTest, ComputeWhatTheReferenceComputes) {
  absl::StatusOr<CaseRunner> runner = CaseRunner::Create();
  if (!runner.ok()) GTEST_SKIP() << runner.status();
  const int64_t cases = FromEnvironment("TILEWRIGHT_RANDOM_CASES", 200);
  const int64_t first = FromEnvironment("TILEWRIGHT_RANDOM_SEED", 1000000);
  const int64_t begin = first + cases * GetParam() / kParts,
                end = first + cases * (GetParam() + 1) / kParts;
  lowering::Refusals refusals;
  int64_t run = 0;
  for (int64_t seed = begin; seed < end;) {
    std::vector<RandomCase> batch;
    for (; seed < end && static_cast<int>(batch.size()) < kCasesPerModule;
         ++seed) {
      sketch::SampleGroup group =
          sketch::DrawSampleGroup(static_cast<uint64_t>(seed));
      // This machine, with the cores that were drawn.
      const int64_t cores = group.spec.unit().cores();
      group.spec = runner->spec();
      group.spec.mutable_unit()->set_cores(cores);
      RandomPolicy policy(static_cast<uint64_t>(seed));
      absl::StatusOr<DecidedCase> decided =
          lowering::DecideCase(group, policy, static_cast<uint64_t>(seed));
      if (absl::IsInvalidArgument(decided.status())) {
        refusals.Add(group, decided.status());
        continue;
      }
      ASSERT_TRUE(decided.ok()) << "seed " << seed << ": " << decided.status();
      batch.push_back(std::move(decided->random_case));
    }
    run += static_cast<int64_t>(batch.size());
    const absl::Status status = runner->RunBatch(std::move(batch));
    ASSERT_TRUE(status.ok()) << status;
  }
  std::printf(
      "%lld kernels run, %lld tables refused\n%s", static_cast<long long>(run),
      static_cast<long long>(refusals.count()), refusals.ToString().c_str());
  if (end - begin >= 20) {
    EXPECT_GT(run * 2, end - begin);
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, DecidedKernelsTest,
                         ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::cpu
