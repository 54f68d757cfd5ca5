#include "tilegraph/cost/compute_features.h"

#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

// Of the last compute, with vectors along dimension `lanes` of it and its
// input.
double SimpleOperations(const std::string& text, int lanes) {
  const auto graph = ParseText(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return FeaturesOf(*graph, graph->outputs()[0], lanes, {lanes})
      .operations.simple;
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

TEST(ComputeFeaturesTest, WindowsDecideOutsideOfTheLoopOverLanes) {
  constexpr int kChannels = 1, kColumns = 3;
  // All channels are inside or all outside: what is left is the maximum.
  EXPECT_EQ(SimpleOperations(kMaxPool, kChannels), 1);
  // Each column decides for itself.
  EXPECT_GT(SimpleOperations(kMaxPool, kColumns), 5);
}

TEST(ComputeFeaturesTest, OthersDecideForEachElement) {
  constexpr char kMap[] = R"(
    X: f32[8, 16] = placeholder
    Y: f32[8, 16] = compute (i: 8, j: 16) { select(i < 4, X[i, j], 0.0) }
    return Y
  )";
  EXPECT_GT(SimpleOperations(kMap, 1), 1);
}

}  // namespace
}  // namespace tilewright
