// TopK beside a stable sort, by both of its outputs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// Output 0 is the values, 1 the indices.
Outcome TopK(const Given& x, int64_t k, int64_t axis, bool largest,
             int output) {
  ModelBuilder b(17);
  b.Input("x", x.shape).Ints("k", {1}, {k});
  b.Node("TopK", {"x", "k"}, {"values", "indices"})
      .Int("axis", axis)
      .Int("largest", largest ? 1 : 0);
  b.model().mutable_graph()->add_output()->set_name(output == 0 ? "values"
                                                                : "indices");
  return RunModel(b, {x});
}

// NaN is the largest; equal ones keep their order.
bool Before(float a, float b, bool largest) {
  if (!largest) std::swap(a, b);
  return std::isnan(a) ? !std::isnan(b) : a > b;
}

std::vector<int64_t> Sorted(const Values& row, bool largest) {
  std::vector<int64_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return Before(row[static_cast<size_t>(a)], row[static_cast<size_t>(b)],
                  largest);
  });
  return order;
}

TEST(TopKTest, IsTheBeginningOfAStableSort) {
  Random random(7);
  for (int i = 0; i < 40; ++i) {
    const int64_t n = random.UniformInt(1, 9);
    const int64_t k = random.UniformInt(1, n);
    const bool largest = random.UniformInt(0, 1) == 0;
    // Few numbers, so that many are equal.
    Given x = {{2, n, 3}, {}};
    const float drawn[] = {-INFINITY, -1, -0.0F, 0, 2, INFINITY, NAN};
    for (int64_t e = 0; e < 2 * n * 3; ++e)
      x.values.push_back(drawn[random.UniformInt(0, 6)]);
    Values values, indices;
    for (int64_t a = 0; a < 2; ++a) {
      std::vector<std::vector<int64_t>> orders;
      std::vector<Values> rows;
      for (int64_t c = 0; c < 3; ++c) {
        Values row;
        for (int64_t e = 0; e < n; ++e)
          row.push_back(x.values[static_cast<size_t>((a * n + e) * 3 + c)]);
        orders.push_back(Sorted(row, largest));
        rows.push_back(row);
      }
      for (int64_t r = 0; r < k; ++r) {
        for (size_t c = 0; c < 3; ++c) {
          const int64_t at = orders[c][static_cast<size_t>(r)];
          indices.push_back(static_cast<float>(at));
          values.push_back(rows[c][static_cast<size_t>(at)]);
        }
      }
    }
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << k << " of " << n
                                    << (largest ? " largest" : " smallest"));
    ExpectNear(TopK(x, k, 1, largest, 0), {2, k, 3}, values);
    ExpectNear(TopK(x, k, -2, largest, 1), {2, k, 3}, indices);
  }
}

TEST(TopKTest, BeforeOpset10HowManyIsAnAttribute) {
  ExpectNear(RunNode(9, "TopK", {{{2, 3}, {1, 3, 2, 6, 4, 5}}}, {},
                     [](NodeBuilder n) { n.Int("k", 2); }),
             {2, 2}, {3, 2, 6, 5});
}

TEST(TopKTest, MoreThanThereAreIsAnError) {
  ModelBuilder b(17);
  b.Input("x", {2, 3}).Ints("k", {1}, {4});
  b.Node("TopK", {"x", "k"}, {"values", "indices"});
  b.Output("values");
  EXPECT_THAT(ImportModelProto(b.model()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("k is [4] where one number from 0 to 3")));
}

TEST(TopKTest, RowsThatWouldTakeMinutesAreNotSupported) {
  ModelBuilder b(17);
  b.Input("x", {1, 1000000}).Ints("k", {1}, {4});
  b.Node("TopK", {"x", "k"}, {"values", "indices"});
  b.Output("values");
  EXPECT_THAT(
      ImportModelProto(b.model()),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("rows of 1000000")));
}

}  // namespace
}  // namespace tilewright
