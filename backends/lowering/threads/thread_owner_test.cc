// Owners as they are defined: every thread of drawn nests runs every iteration,
// and elements are compared with the digits that the owner names.
#include "backends/lowering/threads/thread_owner.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "backends/kernel_ir/tile_ir.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/expr.h"
#include "tilegraph/expr/simplify.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::For;

// Two thread loops, a loop in them and one around, and an index of two
// dimensions made of parts of them.
struct Drawn {
  std::vector<For> loops;        // variables 0 and 1
  std::vector<int64_t> extents;  // of variables 0, 1, 2 and 3
  std::vector<Expr> index;
  ThreadNest nest() const { return {&loops[0], &loops[1]}; }
  RangeOf ranges() const {
    return [this](int var) -> std::optional<Range> {
      if (var < 0 || var >= static_cast<int>(extents.size()))
        return std::nullopt;
      return Range{0, extents[var] - 1};
    };
  }
};

Drawn Draw(Random& random) {
  Drawn drawn;
  const int64_t sizes[] = {1, 2, 3, 4, 6, 8};
  for (int v = 0; v < 4; ++v) drawn.extents.push_back(sizes[random.Index(6)]);
  for (int v = 0; v < 2; ++v) {
    For loop;
    loop.var = v;
    loop.name = "t";
    loop.extent = drawn.extents[v];
    loop.kind = For::Kind::kThread;
    loop.place.stride = v == 0 ? drawn.extents[1] : 1;
    loop.place.wraps = v == 0 ? 0 : drawn.extents[1];
    drawn.loops.push_back(loop);
  }
  const int64_t coefficients[] = {1, 1, 2, 4, 6, 8, 12, 24};
  for (int d = 0; d < 2; ++d) {
    Expr index = Expr::Int(random.Bernoulli(0.3) ? random.UniformInt(0, 9) : 0);
    for (int v = 0; v < 4; ++v) {
      if (random.Bernoulli(0.4)) continue;
      Expr part = Expr::Var(v, "v");
      const int64_t by = random.Bernoulli(0.5) ? 2 : 3;
      if (random.Bernoulli(0.2)) part = FloorDiv(part, Expr::Int(by));
      if (random.Bernoulli(0.2)) part = FloorMod(part, Expr::Int(by));
      index = index + part * Expr::Int(coefficients[random.Index(8)]);
    }
    drawn.index.push_back(index);
  }
  return drawn;
}

int64_t Evaluate(const Expr& e, const std::vector<int64_t>& values) {
  const Expr bound =
      Simplify(Substitute(e, [&](int var) { return Expr::Int(values[var]); }),
               [](int) { return std::nullopt; });
  return bound.int_value();
}

// Every value of the four variables.
void ForEach(const Drawn& drawn,
             const std::function<void(const std::vector<int64_t>&)>& fn) {
  std::vector<int64_t> v(4, 0);
  while (true) {
    fn(v);
    int d = 3;
    for (; d >= 0; --d) {
      if (++v[d] < drawn.extents[d]) break;
      v[d] = 0;
    }
    if (d < 0) return;
  }
}

TEST(ThreadOwnerTest, DigitsOfTheElementAreThoseOfTheThread) {
  Random random(5);
  int known = 0, unique = 0;
  for (int i = 0; i < 3000; ++i) {
    const Drawn drawn = Draw(random);
    const auto owner = OwnerOf(drawn.index, drawn.nest(), drawn.ranges());
    if (!owner) continue;
    ++known;
    unique += owner->missing.empty() && !owner->digits.empty();
    const std::vector<Expr> within =
        IndexWithin(drawn.index, *owner, drawn.nest(), drawn.ranges());
    // By thread: elements, and where they lie among the thread's.
    std::map<int64_t, std::map<std::vector<int64_t>, std::vector<int64_t>>> of;
    ForEach(drawn, [&](const std::vector<int64_t>& v) {
      const int64_t thread = v[0] * drawn.extents[1] + v[1];
      std::vector<int64_t> element, place;
      for (const Expr& e : drawn.index) element.push_back(Evaluate(e, v));
      for (const Expr& e : within) place.push_back(Evaluate(e, v));
      for (const OwnerDigit& digit : owner->digits) {
        ASSERT_EQ(element[digit.dim] / digit.coefficient % digit.extent,
                  thread / digit.div % digit.extent);
      }
      const auto [known_place, is_new] = of[thread].emplace(element, place);
      ASSERT_EQ(known_place->second, place);
    });
    for (const auto& [thread, places] : of) {
      std::set<std::vector<int64_t>> distinct;
      for (const auto& [element, place] : places) distinct.insert(place);
      ASSERT_EQ(distinct.size(), places.size());
    }
  }
  EXPECT_GT(known, 500);
  EXPECT_GT(unique, 100);
}

TEST(ThreadOwnerTest, ThreadsShareElementsAlongTheLoopsThatAreNamed) {
  Random random(6);
  int known = 0, apart = 0;
  for (int i = 0; i < 3000; ++i) {
    const Drawn drawn = Draw(random);
    const auto shared =
        LoopsThatShare(drawn.index, drawn.nest(), {0, 1, 2}, drawn.ranges());
    if (!shared) continue;
    ++known;
    apart += shared->empty();
    // With the loop around standing still: the thread, but for what it shares.
    std::map<std::vector<int64_t>, std::vector<int64_t>> thread_of;
    ForEach(drawn, [&](const std::vector<int64_t>& v) {
      std::vector<int64_t> element = {v[3]}, thread;
      for (const Expr& e : drawn.index) element.push_back(Evaluate(e, v));
      for (const int loop : {0, 1}) {
        if (shared->count(loop) == 0) thread.push_back(v[loop]);
      }
      ASSERT_EQ(thread_of.emplace(element, thread).first->second, thread);
    });
  }
  EXPECT_GT(known, 500);
  EXPECT_GT(apart, 50);
}

// A loop over two fused axes of 4 by 3 elements: thread t has i = 4 * e + t. By
// dimension nothing is known; as one they are the elements' numbers.
TEST(ThreadOwnerTest, FusedAxesAreOneDimension) {
  For loop;
  loop.var = 0;
  loop.extent = 4;
  const ThreadNest nest = {&loop};
  const RangeOf ranges = [](int var) -> std::optional<Range> {
    return Range{0, var == 0 ? 3 : 2};
  };
  const Expr i = Expr::Var(1, "e") * Expr::Int(4) + Expr::Var(0, "t");
  const std::vector<Expr> index = {
      Simplify(Expr::Make(Op::kFloorDiv, {i, Expr::Int(3)}), ranges),
      Simplify(Expr::Make(Op::kFloorMod, {i, Expr::Int(3)}), ranges)};
  EXPECT_FALSE(LoopsThatShare(index, nest, {0, 1}, ranges).has_value());
  const std::vector<Expr> joined = JoinDims(index, {4, 3}, ranges);
  ASSERT_EQ(joined.size(), 1u);
  for (int64_t e = 0; e < 3; ++e)
    for (int64_t t = 0; t < 4; ++t)
      EXPECT_EQ(Evaluate(joined[0], {t, e, 0, 0}), 4 * e + t);
  const auto shared = LoopsThatShare(joined, nest, {0, 1}, ranges);
  ASSERT_TRUE(shared.has_value());
  EXPECT_TRUE(shared->empty());
  // A second dimension that may be left is none of the first.
  EXPECT_EQ(JoinDims(index, {4, 2}, ranges).size(), 2u);
}

}  // namespace
}  // namespace tilewright::lowering
