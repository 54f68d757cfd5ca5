#include "measure/inputs/hard_inputs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/inputs/input_sets.h"
#include "measure/testing/test_kernels.h"
#include "sketch/testing/fused_workloads.h"
#include "tilegraph/text/text_form.h"

namespace tilewright::measure {
namespace {

TEST(HardInputsTest, InfinitiesAndNansGoWhereNothingIsSummedUp) {
  EXPECT_TRUE(SelectsFloats(TestWorkload("argmax").graph));
  EXPECT_TRUE(SelectsFloats(TestWorkload("maxpool").graph));
  for (const char* name :
       {"gemm", "softmax", "layernorm", "gather", "int8gemm"})
    EXPECT_FALSE(SelectsFloats(TestWorkload(name).graph)) << name;
}

TEST(HardInputsTest, EveryStepIsOnceTheOnlyNan) {
  const TensorGraph graph = TestWorkload("argmax").graph;
  EXPECT_EQ(NumSpecialTurns(TestWorkload("gemm").graph), 0);
  ASSERT_EQ(NumSpecialTurns(graph), 1 + 2 * 33);
  Random random(3);
  std::vector<int> alone(33, 0);
  for (int turn = 0; turn < NumSpecialTurns(graph); ++turn) {
    InputSet set = DrawRealSet(graph, random);
    PlantInfinitiesAndNans(graph, turn, random, set);
    const auto all = set.begin()->second.as<float>();
    const std::vector<float> row(all.begin() + 4 * 33, all.begin() + 5 * 33);
    const auto nan = [](float x) { return std::isnan(x); };
    const auto nans = std::count_if(row.begin(), row.end(), nan);
    if (turn == 0) {
      EXPECT_EQ(row, std::vector<float>(33, -INFINITY));
    } else if (turn % 2 == 1) {
      ASSERT_EQ(nans, 1);
      ++alone[std::find_if(row.begin(), row.end(), nan) - row.begin()];
    } else {
      EXPECT_THAT(nans, testing::AnyOf(1, 2));
    }
  }
  EXPECT_EQ(alone, std::vector<int>(33, 1));
}

TEST(HardInputsTest, EveryStepOfAComputedRowWins) {
  EXPECT_EQ(NumWideTurns(TestWorkload("softmax").graph), 0);
  EXPECT_EQ(NumWideTurns(TestWorkload("maxpool").graph), 0);
  for (const bool transposed : {false, true}) {
    const TensorGraph graph =
        sketch::Attention(2, 5, 9, 8, transposed).workload.graph;
    ASSERT_EQ(NumWideTurns(graph), 2 * 9 + 2);
    Random random(3);
    const InputSet before = DrawRealSet(graph, random);
    for (int turn = 0; turn < 18; ++turn) {
      InputSet set = before;
      WidenRows(graph, turn, random, set);
      int widened = 0;
      for (const auto& [id, values] : set) {
        for (int64_t k = 0; k < values.num_elements(); ++k) {
          const double factor = values.Get(k).f / before.at(id).Get(k).f;
          if (factor == 1) continue;
          ++widened;
          EXPECT_NEAR(factor, (turn % 2 == 0 ? 100 : -100) * kOverflowMargin,
                      1);
        }
      }
      EXPECT_EQ(widened, 2 * 8);  // of both heads, one key
    }
  }
}

TEST(HardInputsTest, IndicesLeaveTheirRangeWhereTheyAreBroughtBack) {
  const TensorGraph graph = TestWorkload("gather").graph;
  EXPECT_TRUE(ClampsIndices(graph));
  EXPECT_FALSE(ClampsIndices(TestWorkload("gemm").graph));
  TW_ASSERT_OK_AND_ASSIGN(const TensorGraph open, ParseText(R"(
T: f32[11, 16] = placeholder
I: i64[6] = placeholder
Y: f32[6, 16] = compute (r: 6, c: 16) { T[min(I[r], 10), c] }
return Y
)"));
  EXPECT_FALSE(ClampsIndices(open));
  Random random(3);
  InputSet set = DrawRealSet(graph, random);
  PlantIndicesOutOfRange(graph, random, set);
  const auto indices = set.at(IndexExtents(graph).begin()->first).as<int64_t>();
  EXPECT_GE(*std::max_element(indices.begin(), indices.end()), 11);
  EXPECT_LT(*std::min_element(indices.begin(), indices.end()), 0);
}

}  // namespace
}  // namespace tilewright::measure
