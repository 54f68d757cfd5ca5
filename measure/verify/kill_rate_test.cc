// The check can fail: 500 mutants of correct kernels are all rejected, and as
// many as there are of kernels that pass tiles on from stage to stage.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/testing/mutant_check.h"
#include "measure/testing/test_kernels.h"
#include "sketch/fused/fused_schedule.h"
#include "sketch/testing/fused_windows.h"
#include "sketch/testing/fused_workloads.h"
#include "sketch/testing/random_schedule.h"

namespace tilewright::measure {
namespace {

using sketch::FusedWorkload;
using ::testing::IsEmpty;

// More, as TILEWRIGHT_MUTANTS, by hand.
int Wanted() {
  const char* const text = std::getenv("TILEWRIGHT_MUTANTS");
  return text == nullptr ? 500 : std::atoi(text);
}

// One kernel alone and its text, as TILEWRIGHT_MUTANTS_OF=argmax/7, which is
// what a failure says of it: of argmax with seed 7. All of them: argmax.
bool IsWanted(const std::string& name) {
  const char* const one = std::getenv("TILEWRIGHT_MUTANTS_OF");
  return one == nullptr || name == one ||
         name.substr(0, name.rfind('/')) == one;
}
void PrintIfAlone(const ScalarCase& made) {
  if (std::getenv("TILEWRIGHT_MUTANTS_OF") != nullptr)
    std::printf("%s\n", made.kernel.ToString().c_str());
}

lowering::VectorTarget TargetOf(uint64_t seed) {
  lowering::VectorTarget target;
  target.vector_bytes = seed % 2 == 0 ? 64 : 16;
  return target;
}

void Print(const MutantCount& count) {
  for (const auto& [kind, times] : count.kinds)
    std::printf("%4d %s\n", times, kind.c_str());
  std::printf(
      "%d kernels, %d mutants rejected, %d proved the same, %d but for "
      "rounding\n",
      count.kernels, count.rejected, count.same, count.rounding);
}

TEST(KillRateTest, FiveHundredMutantsOfCorrectKernelsAreAllRejected) {
  const int wanted = Wanted();
  MutantCount count;
  for (uint64_t seed = 0;
       count.rejected < wanted && seed < static_cast<uint64_t>(wanted);
       ++seed) {
    for (const NamedWorkload& one : TestWorkloads()) {
      const std::string name = absl::StrCat(one.name, "/", seed);
      if (count.rejected >= wanted) break;
      if (!IsWanted(name)) continue;
      TW_ASSERT_OK_AND_ASSIGN(const sketch::Schedule schedule,
                              sketch::RandomSchedule(one.workload, seed));
      TW_ASSERT_OK_AND_ASSIGN(
          const ScalarCase made,
          MakeScalarCase(name, one.workload, schedule, TargetOf(seed)));
      PrintIfAlone(made);
      TW_ASSERT_OK_AND_ASSIGN(const std::vector<std::string> accepted,
                              CheckMutants(made, 16, seed, count));
      EXPECT_THAT(accepted, IsEmpty()) << name;
    }
  }
  Print(count);
  if (std::getenv("TILEWRIGHT_MUTANTS_OF") != nullptr) return;
  EXPECT_GE(count.rejected, wanted);
  EXPECT_GE(count.kinds.size(), 10u);
  EXPECT_LT(count.same + count.rounding, count.rejected / 4);
}

struct FusedCase {
  const char* name;
  FusedWorkload fused;
  std::vector<int64_t> tile;
};

// Windows that all clip to 0..6, over inputs of 10 x 9 pixels.
FusedWorkload ClippedWindows(int count, sketch::WindowLayout layout) {
  const sketch::WindowStep step = {
      sketch::WindowStep::Kind::kConv, 4, 3, 1, 1, 1};
  return sketch::WindowChain(
      3, 10, 9,
      std::vector<sketch::WindowStep>(static_cast<size_t>(count), step),
      layout);
}

// Tiles in scratch, rows that roll from tile to tile of a task, paddings
// written with values, a softmax between products.
std::vector<FusedCase> FusedCases() {
  return {
      {"mlp", sketch::Mlp(7, {9, 17, 6}), {3, 6}},
      {"tokens", sketch::TokenMlp(5, 8, 17), {2, 8}},
      {"attention", sketch::Attention(2, 5, 9, 8), {1, 2, 8}},
      {"transposed", sketch::Attention(2, 4, 7, 8, true), {1, 4, 8}},
      {"rolling", sketch::InvertedResidual(4, 9, 4, 7, 1), {1, 4, 1, 7}},
      {"strided", sketch::InvertedResidual(3, 8, 4, 9, 2), {1, 4, 2, 3}},
      {"last",
       sketch::InvertedResidual(4, 8, 4, 6, 1, sketch::WindowLayout::kLast),
       {1, 4, 2, 6}},
      {"two clips",
       ClippedWindows(2, sketch::WindowLayout::kPlain),
       {1, 4, 3, 5}},
      {"clips", ClippedWindows(3, sketch::WindowLayout::kPlain), {1, 4, 2, 9}},
      {"four clips",
       ClippedWindows(4, sketch::WindowLayout::kLast),
       {1, 4, 2, 9}},
      {"more clips",
       ClippedWindows(5, sketch::WindowLayout::kLast),
       {1, 4, 3, 4}},
  };
}

TEST(KillRateTest, MutantsOfFusedKernelsAreAllRejected) {
  const int each = Wanted() / 10;
  DeviceSpec spec = *LoadSpec("cpu_x86_64_v4");
  spec.mutable_unit()->set_cores(1);  // tasks of several tiles
  MutantCount count;
  uint64_t seed = 0;
  for (FusedCase& one : FusedCases()) {
    const uint64_t of = seed++;
    if (!IsWanted(one.name)) continue;
    one.fused.plan.tile = one.tile;
    TW_ASSERT_OK_AND_ASSIGN(
        const sketch::Schedule schedule,
        sketch::FusedSchedule(one.fused.workload, spec, one.fused.plan));
    TW_ASSERT_OK_AND_ASSIGN(
        const ScalarCase made,
        MakeScalarCase(one.name, one.fused.workload, schedule, TargetOf(of)));
    PrintIfAlone(made);
    TW_ASSERT_OK_AND_ASSIGN(const std::vector<std::string> accepted,
                            CheckMutants(made, each, of, count));
    EXPECT_THAT(accepted, IsEmpty()) << one.name;
  }
  Print(count);
  if (std::getenv("TILEWRIGHT_MUTANTS_OF") != nullptr) return;
  EXPECT_GE(count.rejected, 6 * each);
  for (const char* const kind :
       {"scratch not filled", "scratch of the task before",
        "other scratch read", "last step skipped", "limit one too small"})
    EXPECT_GT(count.kinds[kind], 0) << kind;
}

}  // namespace
}  // namespace tilewright::measure
