// Sketches with any annotation, over groups of every family: a refusal names
// what cannot be expressed, and everything else gives a kernel that computes
// what the reference interpreter computes, in both tiers.
//
// TILEWRIGHT_RANDOM_CASES sets the number of cases over all shards, and
// TILEWRIGHT_RANDOM_SEED the first seed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/lowering/testing/decided_case.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/derivation/sketch_generator.h"
#include "sketch/derivation/sketch_rules.h"
#include "sketch/testing/ansor_workloads.h"
#include "sketch/testing/sample_groups.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/policies.h"

namespace tilewright::lowering {
namespace {

using sketch::SampleGroup;

constexpr int kParts = 4;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// A group of any family that is no fused one, under a sketch.
SampleGroup DrawGroup(uint64_t seed) {
  SampleGroup group = sketch::DrawSampleGroup(seed);
  if (!group.workload.stages.empty() || seed % 3 == 0) {
    group.workload = sketch::DrawAnsor(seed);
    group.exact = seed % 2 == 0;
  }
  group.generator = sketch::SketchGenerator(
      seed % 4 == 0 ? sketch::TvmCpuRules() : sketch::ExtendedRules());
  return group;
}

absl::Status CheckTiers(const RandomCase& c, const SampleGroup& group) {
  std::vector<std::string> args = c.args;
  absl::Status status =
      kernel_ir::InterpretTileKernel(c.kernel, absl::MakeSpan(args));
  if (status.ok()) status = CheckResults(c, args);
  if (!status.ok()) return status;
  VectorTarget target;
  target.vector_bytes = static_cast<int>(group.spec.unit().vector_bytes());
  target.registers = static_cast<int>(group.spec.unit().vector_registers());
  target.max_unrolled_vectors = c.seed % 2 == 0 ? 64 : 4;
  const absl::StatusOr<kernel_ir::ScalarKernel> kernel =
      Legalize(c.kernel, target);
  if (!kernel.ok()) return kernel.status();
  args = c.args;
  status = kernel_ir::InterpretScalarKernel(*kernel, absl::MakeSpan(args), 0,
                                            kernel->num_tasks);
  if (status.ok()) status = CheckResults(c, args);
  return status;
}

class SketchesTest : public ::testing::TestWithParam<int> {};

TEST_P(SketchesTest, LowerToWhatTheGraphMeans) {
  const auto first =
      static_cast<uint64_t>(FromEnvironment("TILEWRIGHT_RANDOM_SEED", 0));
  const auto count =
      static_cast<uint64_t>(FromEnvironment("TILEWRIGHT_RANDOM_CASES", 400));
  Refusals refusals;
  int64_t checked = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    if (seed % kParts != static_cast<uint64_t>(GetParam())) continue;
    const SampleGroup group = DrawGroup(seed);
    RandomPolicy random(seed);
    const absl::StatusOr<DecidedCase> decided = DecideCase(group, random, seed);
    if (absl::IsInvalidArgument(decided.status())) {
      refusals.Add(group, decided.status());
      continue;
    }
    ASSERT_THAT(decided.status(), IsOk()) << "seed " << seed;
    ASSERT_THAT(CheckTiers(decided->random_case, group), IsOk())
        << "seed " << seed << "\n"
        << decided->ToString();
    ++checked;
    // Preferred decisions are never refused by the extended rules.
    if (seed % 4 == 0) continue;
    PreferredPolicy preferred;
    EXPECT_THAT(DecideCase(group, preferred, seed).status(), IsOk())
        << "seed " << seed << "\n"
        << group.workload.Text();
  }
  std::printf("%lld checked, refused:\n%s", static_cast<long long>(checked),
              refusals.ToString().c_str());
  EXPECT_GT(checked, 4 * refusals.count());
}

INSTANTIATE_TEST_SUITE_P(Parts, SketchesTest, ::testing::Range(0, kParts));

}  // namespace
}  // namespace tilewright::lowering
