#include "tilegraph/ir/layout_view.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tilegraph/expr/index_eval.h"

namespace tilewright {
namespace {

using Shape = std::vector<int64_t>;

Expr Axis(int dim) { return Expr::Var(dim, "x"); }

// A movement: the shape of its result and where each element comes from.
struct Move {
  Shape shape;
  std::vector<Expr> index;
};

Move Transpose(const Shape& from, const std::vector<int>& order) {
  Move move{{}, std::vector<Expr>(from.size())};
  for (size_t d = 0; d < order.size(); ++d) {
    move.shape.push_back(from[order[d]]);
    move.index[order[d]] = Axis(static_cast<int>(d));
  }
  return move;
}

// In row-major order.
Move Reshape(const Shape& from, const Shape& to) {
  Expr position = Expr::Int(0);
  for (size_t d = 0; d < to.size(); ++d)
    position = position * Expr::Int(to[d]) + Axis(static_cast<int>(d));
  Move move{to, std::vector<Expr>(from.size())};
  for (size_t d = from.size(); d-- > 0;) {
    move.index[d] = d == 0 ? position : FloorMod(position, Expr::Int(from[d]));
    position = FloorDiv(position, Expr::Int(from[d]));
  }
  return move;
}

Move Slice(const Shape& from, int dim, int64_t start, int64_t step,
           int64_t extent) {
  Move move{from, {}};
  for (size_t d = 0; d < from.size(); ++d)
    move.index.push_back(Axis(static_cast<int>(d)));
  move.index[dim] = Axis(dim) * Expr::Int(step) + Expr::Int(start);
  move.shape[dim] = extent;
  return move;
}

template <typename Fn>
void ForEachIndex(const Shape& shape, const Fn& fn) {
  Shape at(shape.size(), 0);
  for (bool more = true; more;) {
    fn(at);
    more = false;
    for (size_t d = shape.size(); d-- > 0 && !more;) {
      more = ++at[d] < shape[d];
      if (!more) at[d] = 0;
    }
  }
}

void ExpectSameMemory(const Layout& source, const Move& move,
                      const Layout& view) {
  ASSERT_EQ(view.shape(), move.shape);
  ForEachIndex(move.shape, [&](const Shape& at) {
    Shape from;
    for (const Expr& index : move.index) from.push_back(EvalIndex(index, at));
    ASSERT_EQ(view.Offset(absl::MakeConstSpan(at)),
              source.Offset(absl::MakeConstSpan(from)))
        << source.ToString() << " seen as " << view.ToString();
  });
}

Layout ViewOf(const Layout& source, const Move& move) {
  const std::optional<Layout> view = ViewLayout(source, move.index, move.shape);
  EXPECT_TRUE(view.has_value()) << source.ToString();
  if (!view) return Layout();
  ExpectSameMemory(source, move, *view);
  return *view;
}

TEST(ViewLayoutTest, HeadsOfAttentionAreViewsOfTheProjection) {
  const Layout rows = Layout::RowMajor({1, 197, 1152});
  const Layout split = ViewOf(rows, Reshape(rows.shape(), {1, 197, 3, 6, 64}));
  EXPECT_TRUE(split.is_row_major()) << split.ToString();
  const Layout heads = ViewOf(split, Transpose(split.shape(), {2, 0, 3, 1, 4}));
  const Layout keys = ViewOf(heads, Slice(heads.shape(), 0, 1, 1, 1));
  EXPECT_EQ(keys.ToString(),
            "(1, 1, 6, 197, 64) [d0*226944, d1*226944, d3*1152, d2*64, d4] at "
            "384 of 226944");
}

TEST(ViewLayoutTest, ChannelsLastMakesAPatchEmbeddingPlain) {
  const Layout image =
      *Layout::Create({1, 384, 14, 14}, {0, 0, 0, 0}, {0, 0, 0, 0},
                      {{0, 1, 1}, {2, 1, 14}, {3, 1, 14}, {1, 1, 384}},
                      Layout::Fill::kUndefined);
  const Layout flat = ViewOf(image, Reshape(image.shape(), {1, 384, 196}));
  const Layout tokens = ViewOf(flat, Transpose(flat.shape(), {0, 2, 1}));
  EXPECT_TRUE(tokens.is_row_major()) << tokens.ToString();
}

TEST(ViewLayoutTest, SlicesKeepTheHaloAtTheEndsTheyReach) {
  const Layout image =
      Layout::BlockedLast({1, 64, 5, 7}, 1, 16)
          .WithHalo({0, 0, 1, 1}, {0, 0, 1, 2}, Layout::Fill::kZero);
  const Layout half = ViewOf(image, Slice(image.shape(), 1, 32, 1, 32));
  EXPECT_EQ(half.pad_before(), (Shape{0, 0, 1, 1}));
  EXPECT_EQ(half.pad_after(), (Shape{0, 0, 1, 2}));
  EXPECT_EQ(half.fill(), Layout::Fill::kZero);
  EXPECT_EQ(half.Offset({0, 3, -1, 2}), image.Offset({0, 35, -1, 2}));
  const Layout top = ViewOf(image, Slice(image.shape(), 2, 0, 1, 3));
  EXPECT_EQ(top.pad_before(), (Shape{0, 0, 1, 1}));
  EXPECT_EQ(top.pad_after(), (Shape{0, 0, 0, 2}));
  // A padding of the halo's size: what the view reads is inside of it.
  const Layout padded = ViewOf(image, Slice(image.shape(), 3, -1, 1, 9));
  EXPECT_EQ(padded.pad_before(), (Shape{0, 0, 1, 0}));
  EXPECT_EQ(padded.pad_after(), (Shape{0, 0, 1, 1}));
}

TEST(ViewLayoutTest, WhatNoDigitsExpressIsNone) {
  const Layout rows = Layout::RowMajor({8, 6});
  const auto none = [&](const Layout& source, const Move& move) {
    return !ViewLayout(source, move.index, move.shape).has_value();
  };
  EXPECT_TRUE(none(rows, {{8, 6, 2}, {Axis(0), Axis(1)}}));  // broadcast
  EXPECT_FALSE(none(rows, {{6}, {Axis(0), Axis(0)}}));       // a diagonal
  EXPECT_TRUE(none(rows, {{8, 6}, {Expr::Int(7) - Axis(0), Axis(1)}}));
  EXPECT_TRUE(none(rows, {{8, 3}, {Axis(0), Axis(1) + Expr::Int(4)}}));
  EXPECT_TRUE(none(rows, {{7, 2}, {Axis(0) + Axis(1), Expr::Int(0)}}));
  const Layout blocked = Layout::BlockedLast({32, 6}, 0, 16);
  EXPECT_TRUE(none(blocked, Slice(blocked.shape(), 0, 8, 1, 16)));
  EXPECT_FALSE(none(blocked, Slice(blocked.shape(), 0, 16, 1, 16)));
}

Layout RandomSource(std::mt19937_64& random) {
  const auto draw = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  constexpr int64_t kExtents[] = {1, 2, 3, 4, 6, 8, 12};
  Shape shape;
  for (int d = static_cast<int>(1 + draw(4)); d > 0; --d)
    shape.push_back(kExtents[draw(7)]);
  const int rank = static_cast<int>(shape.size());
  switch (draw(4)) {
    case 0:
      return Layout::BlockedLast(shape, static_cast<int>(draw(rank)),
                                 1 + draw(4));
    case 1: {
      Shape before, after;
      for (int d = 0; d < rank; ++d)
        before.push_back(draw(3)), after.push_back(draw(3));
      return Layout::RowMajor(shape).WithHalo(before, after,
                                              Layout::Fill::kZero);
    }
    default:
      return Layout::RowMajor(shape);
  }
}

Move RandomMove(const Shape& from, std::mt19937_64& random) {
  const auto draw = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  const int rank = static_cast<int>(from.size());
  switch (rank == 0 ? 1 : draw(4)) {
    case 0: {
      std::vector<int> order(rank);
      for (int d = 0; d < rank; ++d) order[d] = d;
      std::shuffle(order.begin(), order.end(), random);
      return Transpose(from, order);
    }
    case 1: {  // the factors of the element count, regrouped
      int64_t rest = 1;
      for (const int64_t extent : from) rest *= extent;
      Shape to;
      while (rest > 1 && to.size() < 3) {
        std::vector<int64_t> divisors;
        for (int64_t k = 1; k <= rest; ++k) {
          if (rest % k == 0) divisors.push_back(k);
        }
        to.push_back(divisors[draw(static_cast<int64_t>(divisors.size()))]);
        rest /= to.back();
      }
      to.push_back(rest);
      return Reshape(from, to);
    }
    default: {
      const int dim = static_cast<int>(draw(rank));
      const int64_t start = draw(from[dim]), step = 1 + draw(3);
      const int64_t most = (from[dim] - start + step - 1) / step;
      return Slice(from, dim, start, step, 1 + draw(most));
    }
  }
}

TEST(ViewLayoutTest, ChainsOfRandomMovesSeeTheRightElements) {
  std::mt19937_64 random(5);
  int views = 0, moves = 0;
  for (int i = 0; i < 1000; ++i) {
    Layout layout = RandomSource(random);
    for (int step = 0; step < 4; ++step, ++moves) {
      const Move move = RandomMove(layout.shape(), random);
      const std::optional<Layout> view =
          ViewLayout(layout, move.index, move.shape);
      if (!view) break;
      ++views;
      ExpectSameMemory(layout, move, *view);
      const auto back = Layout::Parse(view->ToString());
      ASSERT_TRUE(back.ok()) << view->ToString() << ": " << back.status();
      EXPECT_EQ(*back, *view);
      layout = *view;
    }
  }
  EXPECT_GT(views, moves * 8 / 10);
}

}  // namespace
}  // namespace tilewright
