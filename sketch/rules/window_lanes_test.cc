#include "sketch/rules/window_lanes.h"

#include <optional>

#include "gtest/gtest.h"
#include "sketch/trace/workload.h"
#include "tilegraph/ir/layout.h"

namespace tilewright::sketch {
namespace {

constexpr int kChannels = 1, kColumns = 3;

class WindowLanesTest : public ::testing::Test {
 protected:
  std::optional<int> Found(int results, int64_t lanes = 16) const {
    const Tensor& pool = workload_.graph.tensor(*workload_.graph.Find("Y"));
    return AxisOfData(workload_, pool.compute, pool.compute.body, results,
                      lanes);
  }

  Workload workload_ = *ParseWorkload(R"(
    X: f32[1, 32, 14, 14] = placeholder
    Y: f32[1, 32, 12, 12] = compute (n: 1, c: 32, h: 12, w: 12) reduce (i: 3, j: 3) max:f32 { X[n, c, h + i, w + j] }
    return Y
)");
};

TEST_F(WindowLanesTest, ResultsAcrossPlainDataAreComputedAlongThem) {
  EXPECT_EQ(Found(kChannels), kColumns);
  EXPECT_EQ(Found(kColumns), std::nullopt);
}

TEST_F(WindowLanesTest, ResultsAlongDataStayAsTheyAre) {
  workload_.layouts[*workload_.graph.Find("X")] =
      Layout::BlockedLast({1, 32, 14, 14}, kChannels, 16);
  EXPECT_EQ(Found(kChannels), std::nullopt);
}

TEST_F(WindowLanesTest, AnAxisThatFillsNoVectorIsNone) {
  EXPECT_EQ(Found(kChannels, 24), kColumns);
  EXPECT_EQ(Found(kChannels, 25), std::nullopt);
}

// A vector of channels of one group reads one element at a time.
TEST(WindowLanesGroupsTest, GroupsOfWholeVectorsStayAlongTheirResults) {
  const Workload workload = *ParseWorkload(R"(
    X: f32[1, 64, 12, 14] = placeholder
    Y: f32[1, 64, 12, 12] = compute (n: 1, o: 64, h: 12, w: 12) reduce (c: 32, j: 3) sum:f32 { X[n, o floordiv 32 * 32 + c, h, w + j] }
    return Y
)");
  const Tensor& sum = workload.graph.tensor(*workload.graph.Find("Y"));
  const auto found = [&](int64_t lanes) {
    return AxisOfData(workload, sum.compute, sum.compute.body, kChannels,
                      lanes);
  };
  EXPECT_EQ(found(16), std::nullopt);
  EXPECT_EQ(found(24), kColumns);
}

}  // namespace
}  // namespace tilewright::sketch
