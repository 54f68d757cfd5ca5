#include "tilegraph/cost/compute_features.h"

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

// Of the last compute, with vectors along dimension `lanes` of it and its
// inputs.
ComputeFeatures Features(const std::string& text, int lanes) {
  const auto graph = ParseText(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const TensorId output = graph->outputs()[0];
  return FeaturesOf(*graph, output, lanes,
                    std::vector<int>(graph->Inputs(output).size(), lanes));
}

double SimpleOperations(const std::string& text, int lanes) {
  return Features(text, lanes).operations.simple;
}

// 3x3 with padding, NCHW.
constexpr char kMaxPool[] = R"(
  X: f32[1, 16, 9, 9] = placeholder
  Y: f32[1, 16, 9, 9] = compute (n: 1, c: 16, y: 9, x: 9) reduce (i: 3, j: 3) max:f32 {
    select(y + i - 1 >= 0 && y + i - 1 < 9 && x + j - 1 >= 0 && x + j - 1 < 9,
           X[n, c, y + i - 1, x + j - 1], -inf)
  }
  return Y
)";

TEST(ComputeFeaturesTest, WindowsDecideOutsideOfTheirLoops) {
  constexpr int kChannels = 1, kColumns = 3;
  // All channels are inside or all outside, and edges of rows are loops of
  // their own: what is left is the maximum.
  EXPECT_EQ(SimpleOperations(kMaxPool, kChannels), 1);
  EXPECT_EQ(SimpleOperations(kMaxPool, kColumns), 1);
}

TEST(ComputeFeaturesTest, OthersDecideForEachElement) {
  constexpr char kMap[] = R"(
    X: f32[8, 16] = placeholder
    Y: f32[8, 16] = compute (i: 8, j: 16) { select(i < 4, X[i, j], 0.0) }
    return Y
  )";
  EXPECT_GT(SimpleOperations(kMap, 1), 1);
}

TEST(ComputeFeaturesTest, WindowsThatKeepWhatTheyLoadIsPooling) {
  EXPECT_EQ(Features(kMaxPool, 1).kind, ArithmeticKind::kPooling);
}

// 3x3 of 8 groups, 4 channels to 4, at every pixel `at` of y and x.
ComputeFeatures Grouped(const std::string& at, int lanes) {
  const auto graph = ParseText(absl::Substitute(
      "X: f32[1, 32, 13, 13] = placeholder\n"
      "W: f32[32, 4, 3, 3] = placeholder\n"
      "Y: f32[1, 32, 6, 6] = compute (n: 1, o: 32, y: 6, x: 6) reduce (c: 4, "
      "i: 3, j: 3) sum:f32 { X[n, o floordiv 4 * 4 + c, y$0 + i, x$0 + j] * "
      "W[o, c, i, j] } hint \"conv\"\nreturn Y\n",
      at));
  EXPECT_TRUE(graph.ok()) << graph.status();
  constexpr int kWeightLanes = 0;
  return FeaturesOf(*graph, graph->outputs()[0], lanes, {lanes, kWeightLanes});
}

TEST(ComputeFeaturesTest, GroupsOfChannelsArePermutedAndSkipNoWindow) {
  constexpr int kChannels = 1, kColumns = 3;
  EXPECT_EQ(Grouped("", kChannels).kind, ArithmeticKind::kWindow);
  EXPECT_EQ(Grouped("", kChannels).operations.scattered_loads, 0);
  EXPECT_EQ(Grouped(" * 2", kChannels).kind, ArithmeticKind::kStridedWindow);
  EXPECT_EQ(Grouped(" * 2", kChannels).operations.scattered_loads, 0);
  EXPECT_GT(Grouped(" * 2", kColumns).operations.scattered_loads, 0);
}

// Where channels of plain images come in groups that fill vectors, these read
// one element for all lanes; others lie along the images.
TEST(ComputeFeaturesTest, VectorsWithinAGroupOfChannelsShareWhatTheyLoad) {
  for (const int group : {4, 16, 20}) {
    const auto graph = ParseText(absl::Substitute(
        "X: f32[1, $1, 13] = placeholder\n"
        "W: f32[$1, $0, 3] = placeholder\n"
        "Y: f32[1, $1, 11] = compute (n: 1, o: $1, x: 11) reduce (c: $0, j: 3) "
        "sum:f32 { X[n, o floordiv $0 * $0 + c, x + j] * W[o, c, j] } hint "
        "\"conv\"\nreturn Y\n",
        group, 2 * group));
    ASSERT_TRUE(graph.ok()) << graph.status();
    constexpr int kChannels = 1, kColumns = 2, kWeightLanes = 0;
    EXPECT_EQ(FeaturesOf(*graph, graph->outputs()[0], kChannels,
                         {kColumns, kWeightLanes})
                  .operations.scattered_loads,
              group < 16 ? 1.0 / (3 * group) : 0);
  }
}

// The edges of windows are computed apart, and results that lie across plain
// data are stored apart, once each.
TEST(ComputeFeaturesTest, WindowsLoadAsTheirDataLie) {
  const auto graph = ParseText(
      "X: f32[1, 32, 12, 12] = placeholder\n"
      "Y: f32[1, 32, 12, 12] = compute (n: 1, c: 32, h: 12, w: 12) reduce (i: "
      "3, j: 3) max:f32 { select(h + i >= 1 && h + i < 13 && w + j >= 1 && w + "
      "j < 13, X[n, c, h + i - 1, w + j - 1], -1.0) }\nreturn Y\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  constexpr int kChannels = 1, kColumns = 3;
  const auto operations = [&](int results) {
    return FeaturesOf(*graph, graph->outputs()[0], results, {kColumns})
        .operations;
  };
  EXPECT_EQ(operations(kColumns).simple, 1);
  EXPECT_EQ(operations(kColumns).scattered_loads, 0);
  EXPECT_EQ(operations(kChannels).simple, 1);
  EXPECT_EQ(operations(kChannels).scattered_loads, 1.0 / 9);
}

// An image that becomes `by` times as wide.
TEST(ComputeFeaturesTest, PowersOfTwoAreRepeatedByPermuting) {
  const auto scattered = [](int by) {
    return Features(
               absl::Substitute("X: f32[8, 16] = placeholder\n"
                                "Y: f32[8, $0] = compute (i: 8, j: $0) "
                                "{ X[i, j floordiv $1] * 2.0 }\nreturn Y\n",
                                16 * by, by),
               1)
        .operations.scattered_loads;
  };
  EXPECT_EQ(scattered(2), 0);
  EXPECT_EQ(scattered(8), 0);
  EXPECT_EQ(scattered(3), 1);
}

}  // namespace
}  // namespace tilewright
