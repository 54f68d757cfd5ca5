// The three kinds of features, of programs whose numbers can be told by hand.

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "costmodel/feature_matrix.h"
#include "costmodel/features/decision_features.h"
#include "costmodel/features/loop_features.h"
#include "costmodel/features/store_features.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sketch/replay/replay.h"
#include "sketch/rules/generator.h"
#include "sketch/testing/sample_groups.h"
#include "sketch/trace/schedule.h"
#include "sketch/trace/workload.h"
#include "sketch/tree/block_tree.h"
#include "tilegraph/decision/decider.h"
#include "tilegraph/decision/policies.h"
#include "tilegraph/decision/space.h"
#include "tilegraph/decision/table.h"

namespace tilewright::costmodel {
namespace {

using ::testing::ElementsAre;

// A product of 512 x 512 x 512: 32 x 64 tasks, then k, then a register tile of
// 16 x 8, as in the feature test of TVM's auto_scheduler.
sketch::BlockTree TiledProduct() {
  const auto workload = sketch::ParseWorkload(R"(
A: f32[512, 512] = placeholder
B: f32[512, 512] = placeholder
C: f32[512, 512] = compute (m: 512, n: 512) reduce (k: 512) sum:f32 { A[m, k] * B[k, n] }
return C
)");
  EXPECT_THAT(workload.status(), IsOk());
  sketch::ScheduleWriter writer;
  const sketch::Handle block = writer.Block("C");
  writer.GroupTile({block}, {{32, 16}, {64, 8}});
  const sketch::Handle m = writer.Loop(block, "m"), n = writer.Loop(block, "n"),
                       k = writer.Loop(block, "k");
  writer.Reorder({k, m, n});
  writer.Annotate(m, "tile");
  writer.Annotate(n, "tile");
  auto tree = sketch::Replay(*workload, std::move(writer).Finish());
  EXPECT_THAT(tree.status(), IsOk());
  return *std::move(tree);
}

std::map<std::string, double> Named(const FeatureMatrix& rows, int row) {
  std::map<std::string, double> named;
  for (int column = 0; column < kStoreFeatures; ++column) {
    named[StoreFeatureNames()[column]] = rows.at(row, column);
  }
  EXPECT_EQ(named.size(), static_cast<size_t>(kStoreFeatures));
  return named;
}

TEST(StoreFeaturesTest, OfAProductAreThoseOfAnsor) {
  const FeatureMatrix rows = StoreFeatures(TiledProduct());
  ASSERT_EQ(rows.rows(), 1);
  ASSERT_EQ(rows.columns(), 164);
  std::map<std::string, double> row = Named(rows, 0);
  const auto expect = [&](const std::string& name, double amount) {
    EXPECT_NEAR(row.at(name), std::log2(amount + 1), 1e-5) << name;
  };
  const double steps = 512.0 * 512 * 512;
  expect("float_mad", steps);
  expect("float_add_sub", 0);
  expect("float_mul", 0);
  expect("parallel.number", 2);
  expect("parallel.product", 2048);
  expect("parallel.extent", 64);
  EXPECT_EQ(row.at("parallel.inner_spatial"), 1);
  expect("vectorised.number", 1);
  expect("vectorised.extent", 8);
  EXPECT_EQ(row.at("vectorised.inner_spatial"), 1);
  expect("unrolled.number", 1);
  expect("unrolled.product", 16);
  EXPECT_EQ(row.at("unrolled.outer_spatial"), 1);
  expect("steps", steps);
  expect("loops", 5);
  // Most lines: A, one element after another down its rows; B; C.
  EXPECT_EQ(row.at("buffer0.read"), 1);
  expect("buffer0.lines", steps / 8);
  expect("buffer0.reuse_count", 8);
  EXPECT_EQ(row.at("buffer0.loop_reuse"), 1);
  expect("buffer0.reuse_steps", 1);
  // B and C have as many lines: eight floats a step of 32 bytes.
  std::string c = "buffer1";
  if (row.at("buffer1.read") == 1) c = "buffer2";
  const std::string b = c == "buffer1" ? "buffer2" : "buffer1";
  expect(c + ".bytes", steps * 4);
  expect(c + ".unique_bytes", 512 * 512 * 4);
  expect(c + ".reuse_steps", 8 * 16);
  expect(c + ".reuse_bytes", (8 * 16 + 8 + 16) * 4);
  expect(c + ".reuse_count", 512);
  expect(c + ".bytes_by_reuse", steps * 4 / 512);
  expect(c + ".stride", 1);
  EXPECT_EQ(row.at(c + ".read_and_written"), 1);
  expect(b + ".unique_bytes", 512 * 512 * 4);
  expect(b + ".unique_lines", 512 * 512 * 4 / 64);
  expect(b + ".reuse_steps", 8);
  expect(b + ".reuse_count", 16);
  EXPECT_EQ(row.at("buffer3.bytes"), 0);
  // All operations touch three matrices.
  expect("intensity.10", steps / (3 * 512 * 512 * 4));
  EXPECT_EQ(row.at("allocated.bytes"), 0);
}

TEST(StoreFeaturesTest, AmountsMayStayAsTheyAre) {
  StoreFeatureOptions options;
  options.log_scale = false;
  std::map<std::string, double> row =
      Named(StoreFeatures(TiledProduct(), options), 0);
  EXPECT_EQ(row.at("float_mad"), 512.0 * 512 * 512);
  EXPECT_EQ(row.at("vectorised.inner_spatial"), 1);
}

TEST(LoopFeaturesTest, OfAProductAreItsLoopsFromTheInnermostOut) {
  const std::vector<float> row = LoopFeatures(TiledProduct());
  ASSERT_EQ(row.size(), static_cast<size_t>(kLoopFeatures));
  const auto log = [](double x) {
    return static_cast<float>(std::log2(x + 1));
  };
  // n, of 8 steps, vectorised: C moves by 1, then A and B.
  EXPECT_THAT(std::vector<float>(row.begin(), row.begin() + kFeaturesOfALoop),
              ElementsAre(log(8), log(4), log(512.0 * 512 * 512), log(8),  //
                          0, 0, 0, 1,                                      //
                          log(8), log(8), 0,                               //
                          log(1), 1, log(8), log(1),                       //
                          0, 0, log(1), log(8),                            //
                          log(1), 1, log(8), log(1)));
  // k, the third: C stays.
  const auto third = row.begin() + 2 * kFeaturesOfALoop;
  EXPECT_EQ(third[0], log(512));
  EXPECT_EQ(third[11], 0);
  EXPECT_EQ(third[12], 0);
  EXPECT_EQ(third[13], log(128));
  EXPECT_EQ(third[14], log(512));
  EXPECT_EQ(row[5 * kFeaturesOfALoop], 0);
}

TEST(CurveFeaturesTest, OfAProductRelateWhatIsTouchedToItsReuse) {
  const std::vector<float> row = CurveFeatures(TiledProduct());
  ASSERT_EQ(row.size(), static_cast<size_t>(kCurveFeatures));
  // C: 8 elements once, 128 once and then (k) 512 times, and so on outwards.
  const auto touched_reuse = [&](int x) { return row[2 * x]; };
  EXPECT_EQ(touched_reuse(2), 0);
  EXPECT_EQ(touched_reuse(3), 0);
  EXPECT_EQ(touched_reuse(7), 9);
  EXPECT_EQ(touched_reuse(18), 9);
  EXPECT_EQ(row[2 * 8 + 1], 1);  // 8 is 1 above 7
}

TEST(FeaturesTest, HaveTheSameLengthsAndFiniteValuesInEveryFamily) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const sketch::SampleGroup group = sketch::DrawSampleGroup(seed);
    RandomPolicy random(seed);
    Decider decider(random);
    const auto schedule =
        Generate(group.generator, group.workload, group.spec, decider);
    if (!schedule.ok()) continue;
    const auto tree = sketch::Replay(group.workload, *schedule);
    if (!tree.ok()) continue;
    const FeatureMatrix stores = StoreFeatures(*tree);
    EXPECT_GT(stores.rows(), 0);
    EXPECT_EQ(stores.columns(), kStoreFeatures);
    const std::vector<float> loops = LoopFeatures(*tree);
    const std::vector<float> curves = CurveFeatures(*tree);
    EXPECT_EQ(loops.size(), static_cast<size_t>(kLoopFeatures));
    EXPECT_EQ(curves.size(), static_cast<size_t>(kCurveFeatures));
    for (const float value : stores.values()) {
      ASSERT_TRUE(std::isfinite(value) && value >= 0) << group.source;
    }
    for (const auto& values : {loops, curves}) {
      for (const float value : values) ASSERT_TRUE(std::isfinite(value));
    }
  }
}

TEST(DecisionFeaturesTest, EncodeATableInColumnsOfAllTables) {
  const DecisionTable packed = {
      {"layout", Space::OneOf({"plain", "packed"}), {1}},
      {"panel", Space::Integers(1, 31), {7}},
      {"rows", Space::Split({60, 2}), {4, 15}}};
  const DecisionTable plain = {
      {"layout", Space::OneOf({"plain", "packed"}), {0}},
      {"rows", Space::Split({60, 2}), {60, 1}}};
  const DecisionFeatures encode({packed, plain});
  EXPECT_THAT(encode.names(),
              ElementsAre("layout?", "layout=packed", "panel?", "panel.0",
                          "rows?", "rows.0", "rows.1", "layout=plain"));
  const auto log = [](double x) {
    return static_cast<float>(std::log2(x + 1));
  };
  EXPECT_THAT(encode.Row(packed),
              ElementsAre(1, 1, 1, 3, 1, log(4), log(15), 0));
  EXPECT_THAT(encode.Row(plain),
              ElementsAre(1, 0, 0, 0, 1, log(60), log(1), 1));
  // Values that were never seen have no column.
  EXPECT_THAT(encode.Row({{"edges", Space::OneOf({"all"}), {0}}}),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace tilewright::costmodel
