#include "tilegraph/ir/layout.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/index_eval.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright {
namespace {

TEST(Layout, RowMajorCountsTheLastDimensionFastest) {
  Layout layout = Layout::RowMajor({2, 3, 4});
  EXPECT_TRUE(layout.is_row_major());
  EXPECT_EQ(layout.physical_elements(), 24);
  EXPECT_EQ(layout.Offset(std::vector<int64_t>{1, 2, 3}), 23);
  EXPECT_EQ(layout.Offset(std::vector<int64_t>{1, 0, 2}), 14);
  EXPECT_EQ(layout.stride(0), 12);
}

TEST(Layout, BlockedLastIsNchw16cAndPadsChannels) {
  Layout layout = Layout::BlockedLast({1, 20, 3, 5}, 1, 16);
  EXPECT_FALSE(layout.is_row_major());
  EXPECT_EQ(layout.physical_elements(), 2 * 3 * 5 * 16);
  EXPECT_EQ(layout.Offset(std::vector<int64_t>{0, 17, 2, 1}),
            ((1 * 3 + 2) * 5 + 1) * 16 + 1);
}

TEST(Layout, HaloMakesReadsOutsideTheShapeLegal) {
  Layout layout =
      Layout::BlockedLast({1, 16, 3, 5}, 1, 16)
          .WithHalo({0, 0, 1, 2}, {0, 0, 1, 1}, Layout::Fill::kZero);
  EXPECT_EQ(layout.physical_elements(), 16 * 5 * 8);
  EXPECT_EQ(layout.Offset(std::vector<int64_t>{0, 0, -1, -2}), 0);
  EXPECT_EQ(layout.Offset(std::vector<int64_t>{0, 15, 3, 5}),
            layout.physical_elements() - 1);
  EXPECT_EQ(layout.ToString(),
            "(1, 16, 3, 5) [d0, d1/16, d2, d3, d1] pad(0, 0, 1, 2 | 0, 0, 1, "
            "1)=zero");
}

TEST(Layout, VectorOfANchw16cRowIsContiguousAfterSimplification) {
  Layout layout =
      Layout::BlockedLast({1, 64, 56, 56}, 1, 16)
          .WithHalo({0, 0, 1, 1}, {0, 0, 1, 1}, Layout::Fill::kZero);
  Expr block = Expr::Var(0, "cb"), lane = Expr::Var(1, "ci"),
       h = Expr::Var(2, "h"), w = Expr::Var(3, "w");
  RangeOf ranges = [](int id) {
    return Range{0, id == 0 ? 3 : id == 1 ? 15 : 55};
  };
  Expr offset = layout.Offset(
      {Expr::Int(0), block * Expr::Int(16) + lane, h + Expr::Int(-1), w});
  LinearForm form = ToLinear(offset, ranges);
  EXPECT_EQ(form.terms.size(), 4u);
  EXPECT_EQ(form.CoefficientOf(1), 1);
  EXPECT_EQ(form.CoefficientOf(3), 16);
  EXPECT_EQ(form.CoefficientOf(2), 58 * 16);
  EXPECT_EQ(form.CoefficientOf(0), 58 * 58 * 16);
  EXPECT_EQ(form.constant, 16);
}

TEST(Layout, CreateRefusesDigitsThatDoNotCover) {
  using D = std::vector<Layout::Digit>;
  auto create = [](std::vector<int64_t> shape, D digits) {
    std::vector<int64_t> none(shape.size(), 0);
    return Layout::Create(shape, none, none, digits, Layout::Fill::kUndefined)
        .status()
        .code();
  };
  EXPECT_EQ(create({8}, D{{0, 4, 2}, {0, 1, 4}}), absl::StatusCode::kOk);
  EXPECT_EQ(create({8}, D{{0, 4, 1}, {0, 1, 4}}),
            absl::StatusCode::kInvalidArgument);  // too few
  EXPECT_EQ(create({8}, D{{0, 2, 4}, {0, 1, 4}}),
            absl::StatusCode::kInvalidArgument);  // overlap
  EXPECT_EQ(create({8}, D{{0, 8, 2}, {0, 1, 4}}),
            absl::StatusCode::kInvalidArgument);  // gap
  EXPECT_EQ(create({8}, D{{0, 1, 8}, {1, 1, 2}}),
            absl::StatusCode::kInvalidArgument);  // no such dimension
  EXPECT_EQ(create({8}, D{{0, 1, 8}, {0, 1, 8}}),
            absl::StatusCode::kInvalidArgument);  // twice
  EXPECT_EQ(create({8}, D{{0, 0, 8}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(create({1}, D{}), absl::StatusCode::kOk);
}

TEST(Layout, ParseNamesTheColumnOfWhatIsWrong) {
  for (const char* text : {"", "(4", "(4) d0", "(4) [d1]", "(4) [d0/0]",
                           "(4) [d0] pad(1)", "(4) [d0] x", "(4) [d0, d0]"}) {
    auto layout = Layout::Parse(text);
    EXPECT_EQ(layout.status().code(), absl::StatusCode::kInvalidArgument)
        << text;
  }
  EXPECT_EQ(Layout::Parse("(4) [d0/0]").status().message(),
            "layout: expected a divisor of at least 1 at column 10");
}

TEST(Layout, FromIsTheSameElementsInAPartOfTheBuffer) {
  const auto whole =
      Layout::Strided({3, 4}, {0, 0}, {0, 0}, {{0, 1, 3}, {1, 1, 4}}, {20, 2},
                      7, 100, Layout::Fill::kUndefined);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const Layout part = whole->From(5);
  EXPECT_EQ(part.base(), 2);
  EXPECT_EQ(part.Offset({2, 3}), whole->Offset({2, 3}) - 5);
  EXPECT_EQ(part.physical_elements(), part.Offset({2, 3}) + 1);
  EXPECT_EQ(Layout::Parse(part.ToString()).value(), part);
}

Layout RandomLayout(std::mt19937_64& random) {
  auto draw = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  std::vector<int64_t> shape, before, after;
  std::vector<Layout::Digit> digits;
  const int rank = static_cast<int>(draw(5));
  for (int d = 0; d < rank; ++d) {
    shape.push_back(1 + draw(9));
    before.push_back(draw(3) == 0 ? draw(3) : 0);
    after.push_back(draw(3) == 0 ? draw(3) : 0);
    const int64_t range = shape[d] + before[d] + after[d];
    int64_t covered = 1;
    for (int level = 0; level < 2 && draw(2); ++level) {
      int64_t extent = 1 + draw(5);
      digits.push_back({d, covered, extent});
      covered *= extent;
    }
    digits.push_back(
        {d, covered, (range + covered - 1) / covered + (draw(4) == 0)});
  }
  std::shuffle(digits.begin(), digits.end(), random);
  return *Layout::Create(
      shape, before, after, digits,
      draw(2) ? Layout::Fill::kZero : Layout::Fill::kUndefined);
}

TEST(LayoutRandom, OffsetIsInjectiveInRangeAndEqualsItsExpression) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 1000; ++i) {
    Layout layout = RandomLayout(random);
    const int rank = static_cast<int>(layout.shape().size());
    std::vector<Expr> vars;
    for (int d = 0; d < rank; ++d) vars.push_back(Expr::Var(d, "x"));
    RangeOf ranges = [&](int d) {
      return Range{-layout.pad_before()[d],
                   layout.shape()[d] + layout.pad_after()[d] - 1};
    };
    Expr raw = layout.Offset(vars), simple = Simplify(raw, ranges);
    std::set<int64_t> seen;
    std::vector<int64_t> at(rank);
    for (int d = 0; d < rank; ++d) at[d] = ranges(d)->min;
    for (bool more = true; more;) {
      int64_t offset = layout.Offset(at);
      ASSERT_GE(offset, 0) << layout.ToString();
      ASSERT_LT(offset, layout.physical_elements()) << layout.ToString();
      ASSERT_TRUE(seen.insert(offset).second) << layout.ToString();
      ASSERT_EQ(EvalIndex(raw, at), offset) << layout.ToString();
      ASSERT_EQ(EvalIndex(simple, at), offset)
          << layout.ToString() << ": " << simple.ToString();
      more = false;
      for (int d = 0; d < rank && !more; ++d) {
        more = ++at[d] <= ranges(d)->max;
        if (!more) at[d] = ranges(d)->min;
      }
    }
  }
}

TEST(LayoutTest, RollingElementsTakeTurns) {
  const Layout held = Layout::BlockedLast(std::vector<int64_t>{8, 3, 5}, 0, 4);
  const Layout rolling = held.Rolling(1, 11);
  EXPECT_EQ(rolling.ToString(), "(8, 11, 5) [d0/4, d1%3, d2, d0%4]");
  EXPECT_EQ(rolling.physical_elements(), held.physical_elements());
  EXPECT_EQ(rolling.Places(0), 8);
  EXPECT_EQ(rolling.Places(1), 3);
  EXPECT_EQ(rolling.Places(2), 5);
  for (int64_t row = 0; row < 11; ++row) {
    const std::vector<int64_t> at = {5, row, 2}, turn = {5, row % 3, 2};
    EXPECT_EQ(rolling.Offset(at), held.Offset(turn));
    const std::vector<Expr> index = {Expr::Int(5), Expr::Int(row),
                                     Expr::Int(2)};
    EXPECT_TRUE(rolling.Offset(index).IsIntConst(held.Offset(turn)));
  }
}

TEST(LayoutRandom, PackThenUnpackGivesTheTensorBackAndPadsWithZero) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 500; ++i) {
    Layout layout = RandomLayout(random);
    const DType dtype = i % 2 ? DType::kFloat32 : DType::kInt8;
    HostTensor plain(dtype, layout.shape());
    for (int64_t k = 0; k < plain.num_elements(); ++k)
      plain.Set(k, {static_cast<double>(k % 100 + 1), k % 100 + 1});
    std::string packed(layout.physical_elements() * SizeBytes(dtype), '\0');
    layout.Pack(plain, absl::MakeSpan(packed));
    HostTensor back = layout.Unpack(dtype, packed);
    ASSERT_TRUE(std::equal(plain.data(), plain.data() + plain.size_bytes(),
                           back.data()))
        << layout.ToString();
    HostTensor physical(dtype, {layout.physical_elements()});
    std::copy(packed.begin(), packed.end(), physical.data());
    int64_t zeros = 0;
    for (int64_t k = 0; k < physical.num_elements(); ++k) {
      Scalar s = physical.Get(k);
      zeros += s.f == 0 && s.i == 0;
    }
    ASSERT_EQ(zeros, layout.physical_elements() - plain.num_elements());
  }
}

TEST(LayoutRandom, TextParsesBackToTheSameLayout) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 1000; ++i) {
    Layout layout = RandomLayout(random);
    auto back = Layout::Parse(layout.ToString());
    ASSERT_TRUE(back.ok()) << layout.ToString() << ": " << back.status();
    ASSERT_EQ(*back, layout) << layout.ToString() << " != " << back->ToString();
  }
}

}  // namespace
}  // namespace tilewright
