#include "measure/testing/kernel_proof.h"

#include <cstdint>
#include <string>
#include <vector>

#include "backends/kernel_ir/mutate.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "measure/testing/mutant_check.h"
#include "measure/testing/test_kernels.h"
#include "sketch/testing/random_schedule.h"

namespace tilewright::measure {
namespace {

using Result = KernelProof::Result;

ScalarCase CaseOf(const NamedWorkload& one, uint64_t seed) {
  const absl::StatusOr<sketch::Schedule> schedule =
      sketch::RandomSchedule(one.workload, seed);
  EXPECT_THAT(schedule.status(), IsOk());
  absl::StatusOr<ScalarCase> made =
      MakeScalarCase(one.name, one.workload, *schedule, {});
  EXPECT_THAT(made.status(), IsOk());
  return *std::move(made);
}

KernelProof Prove(const ScalarCase& one, const kernel_ir::ScalarKernel& other) {
  const absl::StatusOr<KernelProof> proof =
      ProveSame(one.workload, one.arguments, one.kernel, other);
  EXPECT_THAT(proof.status(), IsOk());
  return *proof;
}

TEST(KernelProofTest, AKernelIsTheSameAsItself) {
  for (const NamedWorkload& one : TestWorkloads()) {
    const ScalarCase made = CaseOf(one, 1);
    const KernelProof proof = Prove(made, made.kernel);
    EXPECT_EQ(proof.result, Result::kBits) << one.name << ": " << proof.gap;
  }
}

// Sums are taken in another order, or are not.
TEST(KernelProofTest, SchedulesOfOneProductAreTheSame) {
  for (const NamedWorkload& one : TestWorkloads()) {
    if (one.name != "gemm" && one.name != "maxpool" && one.name != "depthwise")
      continue;
    const ScalarCase first = CaseOf(one, 1);
    for (const uint64_t seed : {2, 3, 4, 5}) {
      const ScalarCase second = CaseOf(one, seed);
      if (second.arguments.tensors != first.arguments.tensors ||
          second.arguments.layouts != first.arguments.layouts)
        continue;
      const KernelProof proof = Prove(first, second.kernel);
      EXPECT_NE(proof.result, Result::kNone)
          << one.name << ", seed " << seed << ": " << proof.gap;
    }
  }
}

// Kernels that are proved the same agree on random inputs.
TEST(KernelProofTest, NoMutantThatComputesSomethingElseIsProvedTheSame) {
  int proved = 0, different = 0;
  for (const NamedWorkload& one : TestWorkloads()) {
    const ScalarCase made = CaseOf(one, 7);
    for (const kernel_ir::Mutant& mutant :
         kernel_ir::Mutants(made.kernel, 40, 7)) {
      TW_ASSERT_OK_AND_ASSIGN(const std::string difference,
                              SampledDifference(made, mutant.kernel));
      const KernelProof proof = Prove(made, mutant.kernel);
      if (proof.result != Result::kNone) {
        ++proved;
        EXPECT_EQ(difference, "") << one.name << ", " << mutant.name;
      } else {
        EXPECT_NE(proof.gap, "");
      }
      different += difference.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(proved, 10);
  EXPECT_GT(different, 200);
}

}  // namespace
}  // namespace tilewright::measure
