// Det beside the expansion along the first row.
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using Matrix = std::vector<std::vector<double>>;

double Determinant(const Matrix& matrix) {
  if (matrix.empty()) return 1;
  double sum = 0;
  for (size_t column = 0; column < matrix.size(); ++column) {
    Matrix minor(matrix.begin() + 1, matrix.end());
    for (std::vector<double>& row : minor)
      row.erase(row.begin() + static_cast<int64_t>(column));
    sum += (column % 2 == 0 ? 1 : -1) * matrix[0][column] * Determinant(minor);
  }
  return sum;
}

// Of [2, 3, n, n].
Values Determinants(const Given& x) {
  const auto n = static_cast<size_t>(x.shape.back());
  Values expected;
  for (size_t first = 0; first < x.values.size(); first += n * n) {
    Matrix matrix(n, std::vector<double>(n));
    for (size_t e = 0; e < n * n; ++e)
      matrix[e / n][e % n] = x.values[first + e];
    expected.push_back(static_cast<float>(Determinant(matrix)));
  }
  return expected;
}

TEST(DeterminantTest, IsTheExpansion) {
  Random random(3);
  for (int64_t n = 1; n <= 6; ++n) {
    Given x = {{2, 3, n, n}, {}};
    for (int64_t e = 0; e < 6 * n * n; ++e)
      x.values.push_back(static_cast<float>(random.Uniform(-1, 1)));
    ExpectNear(RunNode(11, "Det", {x}), {2, 3}, Determinants(x));
  }
}

// Rows of zeros and ones: many have no pivot, or need one from below.
TEST(DeterminantTest, OfSingularMatricesIsZero) {
  Random random(4);
  for (int i = 0; i < 20; ++i) {
    Given x = {{2, 3, 4, 4}, {}};
    for (int64_t e = 0; e < 96; ++e)
      x.values.push_back(random.UniformInt(0, 2) == 0 ? 1.0F : 0.0F);
    ExpectNear(RunNode(22, "Det", {x}), {2, 3}, Determinants(x));
  }
}

TEST(DeterminantTest, OfOneMatrixIsAScalar) {
  ExpectNear(RunNode(11, "Det", {{{2, 2}, {1, 2, 3, 5}}}), {}, {-1});
}

// With the first element as its pivot the last product would be rounded away.
TEST(DeterminantTest, PivotsAreTheLargest) {
  ExpectNear(RunNode(11, "Det", {{{2, 2}, {1e-8F, 1, 1, 1}}}), {}, {-1});
}

TEST(DeterminantTest, WhatIsNotSquareOrLargeIsRefused) {
  const auto status = [](const std::vector<int64_t>& shape) {
    ModelBuilder b(11);
    b.Input("x", shape).Node("Det", {"x"}, {"y"});
    b.Output("y");
    return ImportModelProto(b.model()).status();
  };
  EXPECT_THAT(status({3, 2, 4}), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("are not square")));
  EXPECT_THAT(status({33, 33}), StatusIs(absl::StatusCode::kUnimplemented,
                                         HasSubstr("a matrix of 33 rows")));
}

}  // namespace
}  // namespace tilewright
