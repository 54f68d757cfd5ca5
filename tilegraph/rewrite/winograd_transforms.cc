#include "tilegraph/rewrite/winograd_transforms.h"

#include <cstddef>
#include <utility>

#include "base/check.h"

namespace tilewright {
namespace {

// The coefficients of the product of x - p over all points but the `left_out`
// one, lowest power first.
std::vector<double> Product(const std::vector<double>& points,
                            size_t left_out) {
  std::vector<double> product = {1};
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == left_out) continue;
    product.push_back(0);
    for (size_t power = product.size(); power-- > 0;) {
      product[power] =
          (power > 0 ? product[power - 1] : 0) - points[i] * product[power];
    }
  }
  return product;
}

double ValueAt(const std::vector<double>& polynomial, double x) {
  double value = 0;
  for (size_t power = polynomial.size(); power-- > 0;)
    value = value * x + polynomial[power];
  return value;
}

}  // namespace

WinogradTransforms ToomCook(const std::vector<double>& points) {
  const size_t m = points.size() - 1, t = m + 2;
  WinogradTransforms transforms;
  transforms.output.assign(m, std::vector<double>(t, 0));
  for (size_t i = 0; i < points.size(); ++i) {
    const double p = points[i];
    std::vector<double> others = Product(points, i);
    const double scale = ValueAt(others, p);
    others.push_back(0);
    transforms.input.push_back(std::move(others));
    transforms.filter.push_back({1 / scale, p / scale, p * p / scale});
    double power = 1;
    for (size_t row = 0; row < m; ++row, power *= p)
      transforms.output[row][i] = power;
  }
  transforms.input.push_back(Product(points, points.size()));
  transforms.filter.push_back({0, 0, 1});
  transforms.output[m - 1][t - 1] = 1;
  return transforms;
}

WinogradTransforms WinogradTransformsOf(int m) {
  TW_CHECK(m == 2 || m == 4) << "F(" << m << ", 3)";
  return m == 2 ? ToomCook({0, 1, -1}) : ToomCook({0, 0.75, -0.75, 1.5, -1.5});
}

}  // namespace tilewright
