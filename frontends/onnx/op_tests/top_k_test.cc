// TopK beside a stable sort, by both of its outputs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "base/status_matchers.h"
#include "frontends/onnx/import_model.h"
#include "frontends/onnx/model_builder.h"
#include "frontends/onnx/op_tests/op_testing.h"
#include "frontends/onnx/ops/selection/top_k_rounds.h"
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

// Rows of few different numbers, so that many are equal: x is [2, n, 3].
void ExpectBeginningOfAStableSort(Random& random, int64_t n, int64_t k,
                                  bool largest) {
  SCOPED_TRACE(testing::Message()
               << k << " of " << n << (largest ? " largest" : " smallest"));
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
  ExpectNear(TopK(x, k, 1, largest, 0), {2, k, 3}, values);
  ExpectNear(TopK(x, k, -2, largest, 1), {2, k, 3}, indices);
}

TEST(TopKTest, IsTheBeginningOfAStableSort) {
  Random random(7);
  for (int i = 0; i < 40; ++i) {
    const int64_t n = random.UniformInt(1, 9);
    ExpectBeginningOfAStableSort(random, n, random.UniformInt(1, n),
                                 random.UniformInt(0, 1) == 0);
  }
}

// The largest, if they are few, are picked one by one, from blocks of 32 or
// more: the last one is nearly empty.
TEST(TopKTest, PickedFromBlocksToo) {
  Random random(9);
  for (const auto& [n, k] : std::vector<std::pair<int64_t, int64_t>>{
           {33, 5}, {129, 32}, {577, 1}, {705, 7}, {1025, 20}})
    ExpectBeginningOfAStableSort(random, n, k, true);
}

// Every element of the first block is picked, and nothing of it is left.
TEST(TopKTest, ABlockMayBecomeEmpty) {
  Given x = {{129}, Values(129, -INFINITY)};
  std::fill(x.values.begin(), x.values.begin() + 32, 1.0F);
  Values first(32);
  std::iota(first.begin(), first.end(), 0.0F);
  ExpectNear(TopK(x, 32, 0, true, 1), {32}, first);
  x.values[0] = -INFINITY;
  first.erase(first.begin());
  first.push_back(0);
  ExpectNear(TopK(x, 32, 0, true, 1), {32}, first);
}

// One more than whole blocks, so that nearly all of the last block is filling.
TEST(TopKTest, InRoundsToo) {
  Random random(8);
  for (const bool largest : {false, true}) {
    for (const auto& [n, k] : std::vector<std::pair<int64_t, int64_t>>{
             {577, 1}, {705, 7}, {1500, 40}}) {
      ASSERT_GT(TopKRounds(n, k).size(), 1u);
      ExpectBeginningOfAStableSort(random, n, k, largest);
    }
  }
}

// All but one of the elements are what fills the last block.
TEST(TopKTest, WhatFillsABlockLosesAgainstItsLike) {
  for (const bool largest : {false, true}) {
    Given x = {{1025}, Values(1025, largest ? -INFINITY : NAN)};
    x.values[1024] = largest ? -1 : 1;
    ASSERT_GT(TopKRounds(1025, 4).size(), 1u);
    ExpectNear(TopK(x, 4, 0, largest, 1), {4}, {1024, 0, 1, 2});
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
  b.Input("x", {1, 1000000}).Ints("k", {1}, {500000});
  b.Node("TopK", {"x", "k"}, {"values", "indices"});
  b.Output("values");
  EXPECT_THAT(ImportModelProto(b.model()),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("the first 500000 of each of 1 rows of "
                                 "1000000 elements")));
}

}  // namespace
}  // namespace tilewright
