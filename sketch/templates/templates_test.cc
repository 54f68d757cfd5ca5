// Whatever the knobs, a template computes what its graph means.
#include "sketch/templates/templates.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/spec/device_spec.pb.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/ansor_workloads.h"
#include "sketch/testing/checked_decisions.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {
namespace {

using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

constexpr uint64_t kSeeds = 10;  // of each workload

DeviceSpec Spec() {
  DeviceSpec spec;
  spec.mutable_unit()->set_cores(2);
  spec.mutable_unit()->set_vector_bytes(16);
  spec.mutable_unit()->set_vector_registers(16);
  return spec;
}

Workload Parsed(const char* text) {
  absl::StatusOr<Workload> workload = ParseWorkload(text);
  EXPECT_TRUE(workload.ok()) << workload.status();
  return *std::move(workload);
}

Workload BatchedProduct() {
  return Parsed(R"(A: f32[2, 6, 12] = placeholder
B: f32[2, 12, 8] = placeholder
T: f32[2, 6, 8] = compute (b: 2, m: 6, n: 8) reduce (k: 12) sum:f32 { A[b, m, k] * B[b, k, n] }
return T
)");
}

Workload Depthwise() {
  return Parsed(R"(X: f32[1, 8, 6, 6] = placeholder
W: f32[8, 3, 3] = placeholder
T: f32[1, 8, 4, 4] = compute (n: 1, c: 8, h: 4, w: 4) reduce (i: 3, j: 3) sum:f32 { X[n, c, h + i, w + j] * W[c, i, j] }
return T
)");
}

Workload Convolution1d() {
  return Parsed(R"(X: f32[1, 6, 11] = placeholder
W: f32[8, 6, 3] = placeholder
T: f32[1, 8, 9] = compute (n: 1, o: 8, x: 9) reduce (c: 6, i: 3) sum:f32 { X[n, c, x + i] * W[o, c, i] }
return T
)");
}

// The knobs that were asked for.
std::set<std::string> Check(const Workload& workload) {
  DecisionTally tally;
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    CheckDecisions(TemplateGenerator(), workload, Spec(), seed, tally);
  EXPECT_THAT(tally.refusals, IsEmpty()) << tally.ToString();
  std::set<std::string> names;
  for (const auto& [name, values] : tally.values) names.insert(name);
  return names;
}

TEST(TemplatesTest, Products) {
  for (const Workload& workload : {GemmRelu(12, 16, 10), BatchedProduct()}) {
    EXPECT_THAT(Check(workload),
                IsSupersetOf({"T.tile_y", "T.tile_x", "T.tile_k"}));
  }
}

TEST(TemplatesTest, Convolutions) {
  EXPECT_THAT(
      Check(ConvPadRelu(4, 8, 5, 6, 3, 1, 1)),
      IsSupersetOf({"C.tile_ic", "C.tile_oc", "C.tile_ow", "C.unroll_kw"}));
  EXPECT_THAT(
      Check(Convolution1d()),
      IsSupersetOf({"T.tile_ic", "T.tile_oc", "T.tile_ow", "T.unroll_kw"}));
  EXPECT_THAT(Check(Depthwise()),
              IsSupersetOf({"T.tile_oc", "T.tile_ow", "T.unroll_kw"}));
}

// The largest divisors up to what is wanted.
TEST(TemplatesTest, PrefersTvmsFallback) {
  const Workload workload = AnsorMatmul(256, 224, 128);
  TW_ASSERT_OK_AND_ASSIGN(
      const Schedule schedule,
      GeneratePreferred(TemplateGenerator(), workload, Spec()));
  std::map<std::string, std::string> values;
  for (const NamedDecision& decision : schedule.decisions)
    values[decision.name] = decision.value;
  EXPECT_EQ(values["C.tile_y"], "part1 1, part2 4");
  EXPECT_EQ(values["C.tile_x"], "part1 1, part2 8");
  EXPECT_EQ(values["C.tile_k"], "part1 16");
}

TEST(TemplatesTest, RefusesWhatHasNone) {
  EXPECT_THAT(
      GeneratePreferred(TemplateGenerator(), AnsorMin(4, 8), Spec()).status(),
      StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace tilewright::sketch
