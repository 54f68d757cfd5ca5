// Whatever the knobs, a template computes what its graph means.
#include "sketch/templates/templates.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "backends/spec/device_spec.pb.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/ansor_workloads.h"
#include "sketch/testing/checked_decisions.h"
#include "sketch/testing/norm_workloads.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/table.h"

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

Workload Convolution3d() {
  return Parsed(R"(X: f32[1, 4, 5, 6, 8] = placeholder
W: f32[6, 4, 2, 3, 3] = placeholder
T: f32[1, 6, 4, 4, 6] = compute (n: 1, o: 6, z: 4, y: 4, x: 6) reduce (c: 4, k: 2, j: 3, i: 3) sum:f32 { X[n, c, z + k, y + j, x + i] * W[o, c, k, j, i] }
return T
)");
}

// Two groups of three channels that four each read.
Workload GroupedConvolution() {
  return Parsed(R"(X: f32[1, 6, 6, 7] = placeholder
W: f32[8, 3, 3, 3] = placeholder
T: f32[1, 8, 4, 5] = compute (n: 1, o: 8, y: 4, x: 5) reduce (c: 3, j: 3, i: 3) sum:f32 { X[n, o floordiv 4 * 3 + c, y + j, x + i] * W[o, c, j, i] }
return T
)");
}

// Stride 2: outputs of one phase see every second tap.
Workload TransposedConvolution() {
  return Parsed(R"(X: f32[1, 4, 5, 6] = placeholder
W: f32[4, 8, 4, 4] = placeholder
T: f32[1, 8, 8, 10] = compute (n: 1, o: 8, y: 8, x: 10) reduce (c: 4, j: 2, i: 2) sum:f32 { X[n, c, y floordiv 2 + 1 - j, x floordiv 2 + 1 - i] * W[c, o, y floormod 2 + 2 * j, x floormod 2 + 2 * i] }
return T
)");
}

using Sizes = std::map<std::string, double>;

// By knob, the number of its values where the others are preferred.
Sizes KnobSizes(const Workload& workload) {
  PreferredPolicy preferred;
  Decider decider(preferred);
  EXPECT_THAT(Generate(TemplateGenerator(), workload, Spec(), decider).status(),
              IsOk());
  Sizes sizes;
  for (const Decision& decision : decider.decisions())
    sizes[decision.name] = decision.space.size();
  return sizes;
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

TEST(TemplatesTest, ConvolutionsOfOtherKinds) {
  for (const Workload& workload :
       {Convolution3d(), GroupedConvolution(), TransposedConvolution()}) {
    EXPECT_THAT(Check(workload), IsSupersetOf({"T.tile_ic", "T.tile_oc",
                                               "T.tile_ow", "T.unroll_kw"}));
  }
}

TEST(TemplatesTest, Pooling) {
  EXPECT_THAT(Check(AnsorMaxPool(3, 9)),
              IsSupersetOf({"Y.tile_x", "Y.tile_y"}));
}

TEST(TemplatesTest, SoftmaxAndNorms) {
  EXPECT_THAT(Check(AnsorMin(6, 36)), IsSupersetOf({"B.rfactor", "B.tile_y"}));
  for (const Workload& workload :
       {AnsorSoftmax(5, 24), AnsorSoftmax4(1, 2, 3, 16), LayerNorm(6, 20),
        InstanceNorm(4, 3, 8)}) {
    SCOPED_TRACE(workload.Text());
    int reduced = 0, cut = 0;
    for (const std::string& name : Check(workload)) {
      reduced += absl::EndsWith(name, ".rfactor") ? 1 : 0;
      cut += absl::EndsWith(name, ".tile_x") ? 1 : 0;
    }
    EXPECT_EQ(reduced, 2);
    EXPECT_GE(cut, 1);
  }
}

// Counted by hand: divisors without tails; with tails (tile_ow, and tile_x and
// tile_y where nothing is reduced) also powers of two, at most 64.
TEST(TemplatesTest, SpacesHaveTheirSizes) {
  EXPECT_THAT(KnobSizes(Convolution3d()),
              IsSupersetOf(Sizes({{"T.tile_ic", 3},  // 1 2 4
                                  {"T.tile_oc", 4},  // 1 2 3 6
                                  {"T.tile_ow", 5},  // 1 2 3 4 6
                                  {"T.unroll_kw", 2}})));
  EXPECT_THAT(KnobSizes(GroupedConvolution()),
              IsSupersetOf(Sizes({{"T.tile_ic", 2},      // 1 3
                                  {"T.tile_oc", 4},      // 1 2 4 8
                                  {"T.tile_ow", 4}})));  // 1 2 4 5
  EXPECT_THAT(KnobSizes(TransposedConvolution()),
              IsSupersetOf(Sizes({{"T.tile_ic", 3},
                                  {"T.tile_oc", 4},
                                  {"T.tile_ow", 6}})));  // 1 2 4 5 8 10
  EXPECT_THAT(KnobSizes(AnsorMin(6, 36)),
              IsSupersetOf(Sizes({{"B.tile_y", 4},       // 1 2 3 6
                                  {"B.rfactor", 9}})));  // divisors of 36
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
  const Workload map = Parsed(R"(A: f32[4, 8] = placeholder
T: f32[4, 8] = compute (i: 4, j: 8) { exp(A[i, j]) }
return T
)");
  EXPECT_THAT(GeneratePreferred(TemplateGenerator(), map, Spec()).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace tilewright::sketch
