// Sketches are as many as TVM's tests count, on four cores.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/spec/device_spec.pb.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/derivation/gpu_sketch_rules.h"
#include "sketch/derivation/sketch_generator.h"
#include "sketch/derivation/sketch_rules.h"
#include "sketch/replay/replay.h"
#include "sketch/testing/ansor_workloads.h"
#include "sketch/trace/workload.h"

namespace tilewright::sketch {
namespace {

using ::testing::ElementsAre;

// The machine of TVM's tests; vectors of 16 floats.
DeviceSpec FourCores() {
  DeviceSpec spec;
  spec.mutable_unit()->set_cores(4);
  spec.mutable_unit()->set_vector_bytes(64);
  spec.mutable_unit()->set_vector_registers(32);
  return spec;
}

// The options of one compute's rule, in the order in which they are tried.
std::vector<std::string> RulesOf(const std::vector<Sketch>& sketches,
                                 const std::string& compute) {
  std::vector<std::string> rules;
  for (const Sketch& sketch : sketches)
    rules.push_back(sketch.rules.at(compute + ".rule"));
  return rules;
}

// All replay, and no two are alike.
std::vector<Sketch> Enumerate(const Workload& workload,
                              const SketchRules& rules = TvmCpuRules()) {
  std::vector<Sketch> sketches =
      EnumerateSketches(rules, workload, FourCores());
  std::set<std::string> traces;
  for (const Sketch& sketch : sketches) {
    EXPECT_THAT(sketch.schedule.status(), IsOk());
    if (!sketch.schedule.ok()) continue;
    EXPECT_THAT(Replay(workload, *sketch.schedule).status(), IsOk());
    EXPECT_TRUE(traces.insert(sketch.schedule->ToString()).second);
  }
  return sketches;
}

TEST(SketchCountsTest, Matmul) {
  EXPECT_THAT(RulesOf(Enumerate(AnsorMatmul(512, 512, 512)), "C"),
              ElementsAre("cache-write.1", "cache-write.2", "tile"));
}

TEST(SketchCountsTest, MatmulOfFewElements) {
  EXPECT_THAT(RulesOf(Enumerate(AnsorMatmul(8, 8, 512)), "C"),
              ElementsAre("rfactor.outer", "rfactor.inner", "cache-write.1",
                          "cache-write.2", "tile"));
}

TEST(SketchCountsTest, DoubleMatmul) {
  EXPECT_EQ(Enumerate(AnsorDoubleMatmul(512)).size(), 9u);
}

TEST(SketchCountsTest, ConvBnRelu) {
  const std::vector<Sketch> sketches = Enumerate(AnsorConvBnRelu(56, 512, 512));
  EXPECT_THAT(RulesOf(sketches, "C"),
              ElementsAre("tile-fused.1", "tile-fused.2", "tile"));
  EXPECT_THAT(RulesOf(sketches, "T"),
              ElementsAre("inline", "inline", "inline"));
  EXPECT_THAT(RulesOf(sketches, "P"), ElementsAre("skip", "skip", "skip"));
}

TEST(SketchCountsTest, MaxPool) {
  EXPECT_THAT(RulesOf(Enumerate(AnsorMaxPool(512, 56)), "Y"),
              ElementsAre("skip"));
}

TEST(SketchCountsTest, Min) {
  EXPECT_THAT(RulesOf(Enumerate(AnsorMin(10, 1024)), "B"),
              ElementsAre("rfactor.outer", "rfactor.inner", "skip"));
}

TEST(SketchCountsTest, Softmax) {
  EXPECT_EQ(Enumerate(AnsorSoftmax(1, 1024)).size(), 9u);
  EXPECT_EQ(Enumerate(AnsorSoftmax4(1, 12, 128, 128)).size(), 9u);
}

TEST(SketchCountsTest, Winograd) {
  const std::vector<Sketch> sketches = Enumerate(AnsorWinograd(28, 128, 128));
  EXPECT_THAT(RulesOf(sketches, "G"),
              ElementsAre("cache-write.1", "cache-write.2", "tile"));
  EXPECT_EQ(sketches[0].rules.at("D.rule"), "unroll-constants");
  EXPECT_EQ(sketches[0].rules.at("V.rule"), "unroll-constants");
}

TEST(SketchCountsTest, ZeroRank) {
  EXPECT_THAT(RulesOf(Enumerate(AnsorZeroRank(128)), "B"),
              ElementsAre("rfactor.outer", "rfactor.inner", "skip"));
}

TEST(SketchCountsTest, Gpus) {
  const auto gpu = [](const Workload& workload) {
    return Enumerate(workload, TvmGpuRules());
  };
  EXPECT_THAT(RulesOf(gpu(AnsorMatmul(512, 512, 512)), "C"),
              ElementsAre("cache-write"));
  EXPECT_THAT(RulesOf(gpu(AnsorMatmul(8, 8, 1024)), "C"),
              ElementsAre("cross-thread", "cache-write"));
  EXPECT_EQ(gpu(AnsorDoubleMatmul(512)).size(), 1u);
  EXPECT_THAT(RulesOf(gpu(AnsorConvBnRelu(56, 512, 512)), "C"),
              ElementsAre("tile-fused"));
  EXPECT_EQ(gpu(AnsorMaxPool(512, 56)).size(), 1u);
  EXPECT_THAT(RulesOf(gpu(AnsorMin(10, 1024)), "B"),
              ElementsAre("cross-thread", "skip"));
  EXPECT_EQ(gpu(AnsorSoftmax(2, 1024)).size(), 4u);
  EXPECT_EQ(gpu(AnsorSoftmax4(1, 12, 128, 128)).size(), 4u);
  EXPECT_EQ(gpu(AnsorWinograd(28, 128, 128)).size(), 1u);
  EXPECT_THAT(RulesOf(gpu(AnsorZeroRank(128)), "B"),
              ElementsAre("cross-thread", "skip"));
}

}  // namespace
}  // namespace tilewright::sketch
