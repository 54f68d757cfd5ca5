#include "tilegraph/rewrite/winograd_transforms.h"

#include <cstddef>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

// A^T ((G w) * (B^T d)) in one dimension is the correlation of d with w.
TEST(WinogradTransformsTest, ComputeTheCorrelation) {
  Random random(3);
  for (const int m : {2, 4}) {
    const WinogradTransforms transforms = WinogradTransformsOf(m);
    const size_t t = m + 2;
    ASSERT_EQ(transforms.input.size(), t);
    ASSERT_EQ(transforms.filter.size(), t);
    ASSERT_EQ(transforms.output.size(), t - 2);
    for (int draw = 0; draw < 100; ++draw) {
      std::vector<double> data(t), filter(3), products(t);
      for (double& x : data) x = random.Uniform(-1, 1);
      for (double& x : filter) x = random.Uniform(-1, 1);
      for (size_t i = 0; i < t; ++i) {
        double u = 0, v = 0;
        for (size_t k = 0; k < 3; ++k) u += transforms.filter[i][k] * filter[k];
        for (size_t k = 0; k < t; ++k) v += transforms.input[i][k] * data[k];
        products[i] = u * v;
      }
      for (size_t row = 0; row < t - 2; ++row) {
        double given = 0, wanted = 0;
        for (size_t i = 0; i < t; ++i)
          given += transforms.output[row][i] * products[i];
        for (size_t k = 0; k < 3; ++k) wanted += filter[k] * data[row + k];
        EXPECT_NEAR(given, wanted, 1e-14) << "m " << m << ", row " << row;
      }
    }
  }
}

// Transforms of data and results are applied in f32.
TEST(WinogradTransformsTest, OnlyFiltersAreRounded) {
  for (const int m : {2, 4}) {
    const WinogradTransforms transforms = WinogradTransformsOf(m);
    for (const WinogradTransforms::Matrix* matrix :
         {&transforms.input, &transforms.output}) {
      for (const std::vector<double>& row : *matrix) {
        for (const double x : row)
          EXPECT_EQ(static_cast<double>(static_cast<float>(x)), x);
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
