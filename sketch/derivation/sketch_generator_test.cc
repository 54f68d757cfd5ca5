// Whatever is decided, a sketch computes what its graph means, or is refused
// with a reason.
#include "sketch/derivation/sketch_generator.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/spec/device_spec.pb.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/derivation/derivation.h"
#include "sketch/derivation/sketch_rule.h"
#include "sketch/derivation/sketch_rules.h"
#include "sketch/derivation/sketch_state.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/ansor_workloads.h"
#include "sketch/testing/checked_decisions.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/decision/table.h"
#include "tilegraph/ir/tensor_graph.h"

namespace tilewright::sketch {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

// The number of seeds of each workload; more with TILEWRIGHT_SEEDS.
uint64_t Seeds() {
  const char* text = std::getenv("TILEWRIGHT_SEEDS");
  return text == nullptr ? 10 : std::strtoull(text, nullptr, 10);
}

// Vectors of 4 floats, so that small extents fill several.
DeviceSpec Spec() {
  DeviceSpec spec;
  spec.mutable_unit()->set_cores(2);
  spec.mutable_unit()->set_vector_bytes(16);
  spec.mutable_unit()->set_vector_registers(16);
  return spec;
}

std::map<std::string, Workload> Workloads() {
  std::map<std::string, Workload> workloads;
  workloads.emplace("matmul", AnsorMatmul(12, 20, 18));
  workloads.emplace("few elements", AnsorMatmul(3, 4, 48));
  workloads.emplace("odd matmul", AnsorMatmul(13, 7, 11));
  workloads.emplace("double matmul", AnsorDoubleMatmul(6));
  workloads.emplace("conv bn relu", AnsorConvBnRelu(5, 2, 4));
  workloads.emplace("max pool", AnsorMaxPool(3, 7));
  workloads.emplace("min", AnsorMin(6, 36));
  workloads.emplace("softmax", AnsorSoftmax(5, 24));
  workloads.emplace("softmax of four", AnsorSoftmax4(1, 2, 3, 16));
  workloads.emplace("winograd", AnsorWinograd(4, 3, 4));
  workloads.emplace("zero rank", AnsorZeroRank(60));
  workloads.emplace("gemm relu", GemmRelu(9, 12, 10));
  workloads.emplace("half sum", HalfSum(4, 24));
  workloads.emplace("arg max", ArgMax(6, 16));
  workloads.emplace("two outputs", TwoOutputs(5, 12));
  return workloads;
}

// By decision, what was taken in schedules that replayed.
using Taken = std::map<std::string, std::set<std::string>>;

Taken CheckAll(const SketchRules& rules) {
  Taken taken;
  for (const auto& [name, workload] : Workloads()) {
    SCOPED_TRACE(name);
    DecisionTally tally;
    for (uint64_t seed = 0; seed < Seeds(); ++seed)
      CheckDecisions(SketchGenerator(rules), workload, Spec(), seed, tally);
    EXPECT_THAT(tally.refusals, IsEmpty()) << tally.ToString();
    for (const auto& [decision, values] : tally.values)
      taken[name + ": " + decision].insert(values.begin(), values.end());
  }
  return taken;
}

TEST(SketchGeneratorTest, TvmSketchesComputeWhatTheGraphMeans) {
  CheckAll(TvmCpuRules());
}

TEST(SketchGeneratorTest, ExtendedSketchesComputeWhatTheGraphMeans) {
  Taken taken = CheckAll(ExtendedRules());
  EXPECT_THAT(taken["gemm relu: T.pack.B"], Contains("panels"));
}

// The rows of a padded image that neighbouring rows of windows share.
TEST(SketchGeneratorTest, RollsWhereIterationsOverlap) {
  DeviceSpec spec = Spec();
  spec.mutable_unit()->set_cores(1);
  const Workload workload = AnsorMaxPool(3, 7);
  int rolled = 0;
  for (int at = 4; at <= 8; ++at) {
    TW_ASSERT_OK_AND_ASSIGN(
        const Schedule schedule,
        GenerateWith(SketchGenerator(ExtendedRules()), workload, spec,
                     {{"Y.tile.h", "8x1"},
                      {"Y.tile.w", "1x8"},
                      {"Y.parallel", "2"},
                      {"P.at", std::to_string(at)},
                      {"P.rolling", "yes"}}));
    rolled += AnswersOf(schedule)["P.rolling"] == "yes" ? 1 : 0;
    TW_ASSERT_OK_AND_ASSIGN(const BlockTree tree, Replay(workload, schedule));
    EXPECT_THAT(CheckTree(tree, workload, 0), IsOk()) << schedule.ToString();
  }
  EXPECT_GT(rolled, 0);
}

// Every sketch of every workload, with preferred annotation.
TEST(SketchGeneratorTest, NoSketchIsRefused) {
  for (const SketchRules& rules : {TvmCpuRules(), ExtendedRules()}) {
    for (const auto& [name, workload] : Workloads()) {
      SCOPED_TRACE(name);
      for (const Sketch& sketch : EnumerateSketches(rules, workload, Spec()))
        EXPECT_THAT(sketch.schedule.status(), IsOk());
    }
  }
}

// A rule of one's own, before all others.
TEST(SketchGeneratorTest, AsksOwnRulesFirst) {
  SketchRule keep;
  keep.name = "keep";
  keep.condition = [](const SketchState& state, TensorId id) {
    return state.traits(id).needs_tiling ? SketchRule::Meets::kApplyAndSkipRest
                                         : SketchRule::Meets::kSkip;
  };
  keep.write = [](Derivation& derivation, TensorId id, std::string_view) {
    return derivation.Place(derivation.Block(id), false);
  };
  SketchRules rules = TvmCpuRules();
  rules.rules.insert(rules.rules.begin(), keep);
  const Workload workload = AnsorDoubleMatmul(6);
  const std::vector<Sketch> sketches =
      EnumerateSketches(rules, workload, Spec());
  ASSERT_EQ(sketches.size(), 1u);
  EXPECT_EQ(sketches[0].rules,
            (Answers{{"C.rule", "keep"}, {"E.rule", "keep"}}));
  EXPECT_THAT(sketches[0].schedule.status(), IsOk());
}

// Requests that cannot be expressed are refused by name: copies of computes
// that reduce nothing.
TEST(SketchGeneratorTest, RefusalsNameRuleAndReason) {
  TW_ASSERT_OK_AND_ASSIGN(const Workload workload, ParseWorkload(R"(
A: f32[5] = placeholder
B: f32[7] = placeholder
C: f32[5, 7] = compute (i: 5, j: 7) { A[i] + B[j] }
return C
)"));
  std::vector<std::string> refused;
  for (const Sketch& sketch :
       EnumerateSketches(TvmCpuRules(), workload, Spec())) {
    if (!sketch.schedule.ok())
      refused.emplace_back(sketch.schedule.status().message());
  }
  EXPECT_THAT(refused,
              ::testing::Each(::testing::Eq(
                  "cache-write of C: cache_write: C is no reduction")));
  EXPECT_EQ(refused.size(), 2u);
}

}  // namespace
}  // namespace tilewright::sketch
