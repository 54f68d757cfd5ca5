#include "frontends/onnx/ops/resize_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

ResizeSpec Spec(ResizeMode mode, const std::string& coordinates, int64_t input,
                int64_t output) {
  ResizeSpec spec;
  spec.mode = mode;
  spec.coordinates = coordinates;
  spec.rounding = "floor";
  spec.scale = {static_cast<double>(output) / static_cast<double>(input)};
  spec.shape = {output};
  return spec;
}

int64_t At(const RegularSteps& steps, int64_t o) {
  return static_cast<int64_t>(
      std::floor(static_cast<double>(steps.multiplier * o + steps.offset) /
                 static_cast<double>(steps.divisor)));
}

TEST(ResizeTableTest, WholeFactorsHaveRegularSteps) {
  for (const char* coordinates : {"half_pixel", "asymmetric"}) {
    for (const int64_t factor : {1, 2, 4, 8, 16}) {
      for (const int64_t input : {1, 2, 5, 56}) {
        for (const ResizeMode mode :
             {ResizeMode::kLinear, ResizeMode::kCubic}) {
          const ResizeTable up =
              TableOf(Spec(mode, coordinates, input, factor * input), 0, input);
          EXPECT_TRUE(FindSteps(up.first).has_value())
              << coordinates << " " << input << " by " << factor;
          const ResizeTable down =
              TableOf(Spec(mode, coordinates, factor * input, input), 0,
                      factor * input);
          EXPECT_TRUE(FindSteps(down.first).has_value())
              << coordinates << " " << input << " from " << factor;
        }
      }
    }
  }
  const ResizeTable thirds =
      TableOf(Spec(ResizeMode::kLinear, "half_pixel", 20, 60), 0, 20);
  EXPECT_FALSE(FindSteps(thirds.first).has_value());
}

// Whatever is found gives the positions, and with zeros outside the weights
// give what the border outside would.
TEST(ResizeTableTest, StepsAndMovedWeightsSayTheSame) {
  Random random(1);
  int regular = 0, moved = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const int64_t input = random.UniformInt(1, 20);
    const int64_t output = random.Index(2) == 0
                               ? input * (int64_t{1} << random.Index(4))
                               : random.UniformInt(1, 40);
    const char* const coordinates[] = {"half_pixel", "asymmetric",
                                       "align_corners", "pytorch_half_pixel",
                                       "half_pixel_symmetric"};
    ResizeSpec spec =
        Spec(random.Index(2) == 0 ? ResizeMode::kLinear : ResizeMode::kCubic,
             coordinates[random.Index(5)], input, output);
    spec.antialias = random.Index(4) == 0;
    spec.exclude_outside = random.Index(4) == 0;
    ResizeTable table = TableOf(spec, 0, input);
    ASSERT_EQ(table.first.size(), static_cast<size_t>(output));
    if (const auto steps = FindSteps(table.first)) {
      ++regular;
      for (int64_t o = 0; o < output; ++o)
        ASSERT_EQ(At(*steps, o), table.first[o]) << trial;
    }
    std::vector<double> x(input);
    for (double& value : x) value = random.Normal();
    const auto value = [&](int64_t o, bool clamp) {
      double sum = 0;
      for (int64_t k = 0; k < table.taps; ++k) {
        int64_t at = table.first[o] + k;
        if (clamp) at = std::clamp<int64_t>(at, 0, input - 1);
        const bool inside = at >= 0 && at < input;
        sum += table.weight[o * table.taps + k] * (inside ? x[at] : 0);
      }
      return sum;
    };
    std::vector<double> want;
    for (int64_t o = 0; o < output; ++o) want.push_back(value(o, true));
    if (!MoveWeightsInside(table, input)) continue;
    ++moved;
    for (int64_t o = 0; o < output; ++o)
      EXPECT_NEAR(value(o, false), want[o], 1e-12) << trial;
  }
  EXPECT_GT(regular, 500);
  EXPECT_GT(moved, 1000);
}

TEST(ResizeTableTest, WeightsStayWhereAnOutputSeesNothing) {
  ResizeTable table{2, {-2, 0}, {0.5, 0.5, 0.25, 0.75}};
  const std::vector<double> before = table.weight;
  EXPECT_FALSE(MoveWeightsInside(table, 4));
  EXPECT_EQ(table.weight, before);
}

}  // namespace
}  // namespace tilewright
