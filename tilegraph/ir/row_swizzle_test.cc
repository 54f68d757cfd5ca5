#include "tilegraph/ir/row_swizzle.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright {
namespace {

const RangeOf kNothing = [](int) { return std::nullopt; };

int64_t ValueOf(const Expr& expr) {
  const Expr folded = Rewrite(expr, [](const Expr& e) {
    const Expr simple = Simplify(e, kNothing);
    return simple.op() == Op::kXor ? Expr::Int(simple.operand(0).int_value() ^
                                               simple.operand(1).int_value())
                                   : simple;
  });
  return folded.int_value();
}

std::vector<int64_t> PlaceOf(const RowSwizzle& swizzle,
                             const std::vector<int64_t>& index,
                             const std::vector<int64_t>& shape) {
  std::vector<Expr> exprs;
  for (const int64_t i : index) exprs.push_back(Expr::Int(i));
  std::vector<int64_t> place;
  for (const Expr& e : swizzle.PlaceOf(exprs, shape))
    place.push_back(ValueOf(e));
  return place;
}

// Rows of 16 floats, two to a step: chunk c of row r is c xor (r / 2 mod 4).
TEST(RowSwizzleTest, ChunksChangePlacesFromStepToStep) {
  TW_ASSERT_OK_AND_ASSIGN(const RowSwizzle swizzle, RowSwizzle::Parse("4,4,2"));
  EXPECT_EQ(swizzle.ToString(), "4,4,2");
  const std::vector<int64_t> shape = {8, 16};
  EXPECT_EQ(PlaceOf(swizzle, {1, 5}, shape), (std::vector<int64_t>{1, 5}));
  EXPECT_EQ(PlaceOf(swizzle, {2, 5}, shape), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(PlaceOf(swizzle, {7, 0}, shape), (std::vector<int64_t>{7, 12}));
}

TEST(RowSwizzleTest, EveryElementHasAPlaceOfItsOwnInItsRow) {
  TW_ASSERT_OK_AND_ASSIGN(const RowSwizzle swizzle, RowSwizzle::Parse("2,4,3"));
  const std::vector<int64_t> shape = {2, 5, 24};
  TW_ASSERT_OK(swizzle.Fits(shape));
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 5; ++j) {
      std::set<int64_t> taken;
      for (int64_t k = 0; k < 24; ++k) {
        const std::vector<int64_t> place = PlaceOf(swizzle, {i, j, k}, shape);
        EXPECT_EQ(place[0], i);
        EXPECT_EQ(place[1], j);
        EXPECT_EQ(place[2] % 2, k % 2);
        EXPECT_GE(place[2], 0);
        EXPECT_LT(place[2], 24);
        taken.insert(place[2]);
      }
      EXPECT_EQ(taken.size(), 24u);
    }
  }
}

TEST(RowSwizzleTest, RowsHoldWholeGroupsOfChunks) {
  const RowSwizzle swizzle{4, 4, 1}, three{4, 3, 1};
  TW_EXPECT_OK(swizzle.Fits({3, 32}));
  EXPECT_EQ(swizzle.Fits({3, 24}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(swizzle.Fits({}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(three.Fits({3, 12}).code(), absl::StatusCode::kInvalidArgument);
  for (const char* text : {"", "4,4", "4,0,1", "a,4,1", "4,4,1,1"})
    EXPECT_EQ(RowSwizzle::Parse(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
}

}  // namespace
}  // namespace tilewright
