// Annotations are requests to lowering: the kernel's scalar text follows them,
// and the result stays equal bit for bit.
#include "sketch/rules/shared/annotations.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "backends/kernel_ir/interpreter.h"
#include "backends/kernel_ir/scalar_ir.h"
#include "backends/lowering/testing/decided_case.h"
#include "backends/lowering/testing/random_case.h"
#include "backends/lowering/vectorize/legalize.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "backends/spec/device_spec.pb.h"
#include "backends/spec/load_spec.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/rules/default_schedule.h"
#include "sketch/testing/sample_groups.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"

namespace tilewright::lowering {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

struct Lowered {
  std::string schedule, text;
  LegalizeReport report;
  std::vector<std::string> results;
};

// The group with these answers, the rest preferred.
Lowered LowerWith(const sketch::SampleGroup& group, const Answers& answers) {
  Lowered lowered;
  PreferredPolicy rest;
  TablePolicy policy(answers, rest);
  const absl::StatusOr<DecidedCase> decided = DecideCase(group, policy, 1);
  EXPECT_THAT(decided.status(), IsOk());
  if (!decided.ok()) return lowered;
  EXPECT_THAT(policy.Rounded(), IsEmpty());
  EXPECT_THAT(policy.Unused(), IsEmpty());
  const RandomCase& c = decided->random_case;
  lowered.schedule = c.schedule.ToString();
  absl::StatusOr<kernel_ir::ScalarKernel> kernel =
      Legalize(c.kernel, {}, &lowered.report);
  EXPECT_THAT(kernel.status(), IsOk());
  if (!kernel.ok()) return lowered;
  lowered.text = kernel->ToString();
  lowered.results = c.args;
  TW_EXPECT_OK(kernel_ir::InterpretScalarKernel(
      *kernel, absl::MakeSpan(lowered.results), 0, kernel->num_tasks));
  TW_EXPECT_OK(CheckResults(c, lowered.results));
  return lowered;
}

sketch::SampleGroup Group(const char* text) {
  sketch::SampleGroup group;
  group.source = "test";
  absl::StatusOr<sketch::Workload> workload = sketch::ParseWorkload(text);
  EXPECT_THAT(workload.status(), IsOk());
  group.workload = *std::move(workload);
  group.spec = *LoadSpec("cpu_x86_64_v4");
  group.exact = false;
  return group;
}

sketch::SampleGroup Product() {
  sketch::SampleGroup group = Group(R"(
    A: f32[14, 64] = placeholder
    B: f32[64, 32] = placeholder
    T: f32[14, 32] = compute (m: 14, n: 32) reduce (k: 64) sum:f32 { A[m, k] * B[k, n] }
    Y: f32[14, 32] = compute (m: 14, n: 32) { max(T[m, n], 0.0) }
    return Y
)");
  group.generator = sketch::Generators(group.workload).front();
  return group;
}

TEST(AnnotationsTest, AutoWritesNothing) {
  const Lowered rule = LowerWith(Product(), {}),
                asked = LowerWith(Product(),
                                  {{"unroll", "auto"}, {"prefetch", "auto"}});
  EXPECT_EQ(asked.schedule, rule.schedule);
  EXPECT_EQ(asked.text, rule.text);
  EXPECT_THAT(rule.schedule, Not(HasSubstr("unroll=")));
  EXPECT_THAT(rule.schedule, Not(HasSubstr("prefetch=")));
}

TEST(AnnotationsTest, UnrollIsFollowedAndReported) {
  const Lowered rule = LowerWith(Product(), {});
  EXPECT_THAT(rule.report.unrolled, ElementsAre(Pair("k", 4)));
  EXPECT_THAT(rule.text, HasSubstr(" unroll 4:"));
  for (const int copies : {1, 2, 8}) {
    const Lowered asked =
        LowerWith(Product(), {{"unroll", absl::StrCat(copies)}});
    EXPECT_THAT(asked.report.unrolled, ElementsAre(Pair("k", copies)));
    EXPECT_THAT(asked.text, Not(HasSubstr(" unroll 4:")));
    if (copies > 1) {
      EXPECT_THAT(asked.text, HasSubstr(absl::StrCat(" unroll ", copies, ":")));
    }
    EXPECT_TRUE(asked.results == rule.results);
  }
}

// Each step reads a vector line or more of B and one element of each row of A.
TEST(AnnotationsTest, PrefetchIsFollowedAndReported) {
  const Lowered rule = LowerWith(Product(), {});
  EXPECT_EQ(rule.report.prefetches, 0);  // small operands
  const Lowered near = LowerWith(Product(), {{"prefetch", "2"}}),
                far = LowerWith(Product(), {{"prefetch", "16"}}),
                none = LowerWith(Product(), {{"prefetch", "none"}});
  EXPECT_GT(near.report.prefetches, 0);
  EXPECT_EQ(near.report.prefetches, far.report.prefetches);
  EXPECT_NE(near.text, far.text);
  EXPECT_THAT(near.text, HasSubstr("prefetch B"));
  EXPECT_THAT(near.text, HasSubstr("prefetch A"));
  EXPECT_EQ(none.text, rule.text);
  for (const Lowered* asked : {&near, &far, &none})
    EXPECT_TRUE(asked->results == rule.results);
}

// Tasks of two tiles of two rows: each step asks for its share of the next
// two rows of A, and for nothing of B, which all tiles read.
TEST(AnnotationsTest, TheNextRegisterTileIsPrefetched) {
  const Answers tile = {{"tile", "vectors 2, rows 2, outer_rows 1"},
                        {"task.rows", "2"}};
  Answers next = tile;
  next["prefetch"] = "tile";
  sketch::SampleGroup group = Product();
  group.spec.mutable_unit()->set_cores(1);  // four tasks at least
  const Lowered rule = LowerWith(group, tile), asked = LowerWith(group, next);
  EXPECT_GE(asked.report.prefetches, 1);
  EXPECT_THAT(asked.text, HasSubstr("prefetch A"));
  EXPECT_THAT(asked.text, Not(HasSubstr("prefetch B")));
  EXPECT_THAT(asked.schedule, HasSubstr("prefetch=1"));
  EXPECT_TRUE(asked.results == rule.results);
}

}  // namespace
}  // namespace tilewright::lowering
