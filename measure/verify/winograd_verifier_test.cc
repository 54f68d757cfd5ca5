// Kernels of a convolution by Winograd, compared with the convolution.
#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/kernel_ir/mutate.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/spec/load_spec.h"
#include "base/status_macros.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/testing/kernel_proof.h"
#include "measure/testing/mutant_check.h"
#include "measure/verify/interpreted_candidate.h"
#include "measure/verify/verifier.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/rules/generator.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/table.h"

namespace tilewright::measure {
namespace {

using ::testing::HasSubstr;

// A convolution with 5 x 6 outputs and room for tiles of 4.
constexpr char kConvolution[] = R"(
X: f32[1, 3, 10, 10] = placeholder
W: f32[16, 3, 3, 3] = placeholder
C: f32[1, 16, 5, 6] = compute (n: 1, o: 16, h: 5, w: 6)
  reduce (c: 3, i: 3, j: 3) sum:f32 { X[n, c, h + i, w + j] * W[o, c, i, j] }
  hint winograd4
Y: f32[1, 16, 5, 6] = compute (n: 1, o: 16, h: 5, w: 6) {
  max(C[n, o, h, w], 0.0) }
return Y
#constant W
)";

ScalarCase CaseOf(const Answers& answers) {
  const absl::StatusOr<sketch::Workload> workload =
      sketch::ParseWorkload(kConvolution);
  EXPECT_THAT(workload.status(), IsOk());
  const absl::StatusOr<sketch::Schedule> schedule =
      sketch::GenerateWith(sketch::Generators(*workload).front(), *workload,
                           *LoadSpec("cpu_x86_64_v4"), answers);
  EXPECT_THAT(schedule.status(), IsOk());
  absl::StatusOr<ScalarCase> made =
      MakeScalarCase("convolution", *workload, *schedule, {});
  EXPECT_THAT(made.status(), IsOk());
  return *std::move(made);
}

ScalarCase TilesOf(int m) {
  return CaseOf({{"form", "winograd"}, {"winograd.m", absl::StrCat(m)}});
}

absl::StatusOr<Verdict> Verify(const ScalarCase& one,
                               const kernel_ir::ScalarKernel& kernel) {
  TW_ASSIGN_OR_RETURN(const auto verifier, Verifier::Create(one.workload, {}));
  return verifier->Check(one.arguments, InterpretedCandidate(kernel),
                         Isolation::kInProcess);
}

TEST(WinogradVerifierTest, BothFormsComputeTheConvolution) {
  // m = 1: the direct form.
  for (const int m : {1, 2, 4}) {
    const ScalarCase one = m == 1 ? CaseOf({{"form", "direct"}}) : TilesOf(m);
    TW_ASSERT_OK_AND_ASSIGN(const Verdict verdict, Verify(one, one.kernel));
    EXPECT_EQ(verdict.reason, "") << m;
    // Filters of F(4, 3) are rounded.
    EXPECT_EQ(verdict.exact_checked, m != 4);
  }
}

TEST(WinogradVerifierTest, WrongKernelsAreRejected) {
  for (const int m : {2, 4}) {
    const ScalarCase one = TilesOf(m);
    int rejected = 0;
    for (const kernel_ir::Mutant& mutant :
         kernel_ir::Mutants(one.kernel, 25, 3)) {
      TW_ASSERT_OK_AND_ASSIGN(const Verdict verdict,
                              Verify(one, mutant.kernel));
      rejected += verdict.ok ? 0 : 1;
      if (!verdict.ok) continue;
      TW_ASSERT_OK_AND_ASSIGN(
          const KernelProof proof,
          ProveSame(one.workload, one.arguments, one.kernel, mutant.kernel));
      EXPECT_NE(proof.result, KernelProof::Result::kNone)
          << "m " << m << ", " << mutant.name << ": " << proof.gap;
    }
    EXPECT_GT(rejected, 10);
  }
}

TEST(WinogradVerifierTest, FiltersAreThoseOfTheConvolution) {
  ScalarCase one = TilesOf(4);
  size_t filters = 0;
  while (one.arguments.WinogradOf(filters) == 0) ++filters;
  for (const int m : {0, 2, 3}) {
    one.arguments.winograd[filters] = m;
    EXPECT_THAT(Verify(one, one.kernel).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'W'")));
  }
  one.arguments.winograd[filters] = 4;
  one.arguments.winograd[filters == 0 ? 1 : 0] = 4;
  EXPECT_THAT(Verify(one, one.kernel).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("has no filters of F(4, 3)")));
}

}  // namespace
}  // namespace tilewright::measure
