#include "sketch/tree/coverage.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tilegraph/expr/expr.h"

namespace tilewright::sketch {
namespace {

Expr V(int var) { return Expr::Var(var, "v" + std::to_string(var)); }
Expr C(int64_t value) { return Expr::Int(value); }
Expr Below(const Expr& e, int64_t bound) {
  return Expr::Make(Op::kLt, {e, C(bound)});
}

// A block over axes of these extents, with loop i running over `loops[i]`.
Coverage Covers(const std::vector<int64_t>& axes,
                const std::vector<Expr>& bindings,
                const std::vector<Expr>& predicates,
                const std::vector<int64_t>& loops) {
  Block block;
  for (int64_t extent : axes) block.axes.push_back({"a", extent});
  block.bindings = bindings;
  block.predicates = predicates;
  std::vector<std::unique_ptr<Loop>> owned;
  std::vector<const Loop*> around;
  for (size_t i = 0; i < loops.size(); ++i) {
    owned.push_back(std::make_unique<Loop>());
    owned.back()->var = static_cast<int>(i);
    owned.back()->extent = loops[i];
    around.push_back(owned.back().get());
  }
  RangeOf ranges = [&](int var) -> std::optional<Range> {
    return Range{0, loops[var] - 1};
  };
  return CoversOnce(block, 0, axes.size(), around, ranges);
}

TEST(CoverageTest, SplitsWithAndWithoutTails) {
  Expr split = V(0) * C(8) + V(1);
  EXPECT_EQ(Covers({64}, {split}, {}, {8, 8}), Coverage::kYes);
  EXPECT_EQ(Covers({60}, {split}, {Below(split, 60)}, {8, 8}), Coverage::kYes);
  EXPECT_EQ(Covers({60}, {split}, {}, {8, 8}), Coverage::kNo);
  EXPECT_EQ(Covers({65}, {split}, {}, {8, 8}), Coverage::kNo);
  // Nested: the inner part of 8 is split into 3 times 3.
  Expr inner = V(1) * C(3) + V(2);
  Expr nested = V(0) * C(8) + inner;
  EXPECT_EQ(Covers({64}, {nested}, {Below(inner, 8)}, {8, 3, 3}),
            Coverage::kYes);
  EXPECT_EQ(Covers({64}, {nested}, {}, {8, 3, 3}), Coverage::kNo);
}

TEST(CoverageTest, GapsOverlapsAndIdleLoops) {
  EXPECT_EQ(Covers({64}, {V(0) * C(9) + V(1)}, {}, {8, 8}), Coverage::kNo);
  EXPECT_EQ(Covers({64}, {V(0) * C(7) + V(1)}, {}, {8, 8}), Coverage::kNo);
  EXPECT_EQ(Covers({8}, {V(0)}, {}, {8, 2}), Coverage::kNo);
  EXPECT_EQ(Covers({8}, {V(0)}, {}, {8, 1}), Coverage::kYes);
  EXPECT_EQ(Covers({8, 8}, {V(0), V(0)}, {}, {8}), Coverage::kNo);
}

TEST(CoverageTest, FusedLoopsAreTakenApart) {
  EXPECT_EQ(
      Covers({3, 8}, {FloorDiv(V(0), C(8)), FloorMod(V(0), C(8))}, {}, {24}),
      Coverage::kYes);
  EXPECT_EQ(
      Covers({3, 8}, {FloorDiv(V(0), C(8)), FloorMod(V(0), C(4))}, {}, {24}),
      Coverage::kNo);
  // Fused, then split with a tail.
  Expr value = V(0) * C(16) + V(1);
  EXPECT_EQ(Covers({13, 8}, {FloorDiv(value, C(8)), FloorMod(value, C(8))},
                   {Below(value, 104)}, {7, 16}),
            Coverage::kYes);
}

TEST(CoverageTest, WhatCannotBeToldIsUnknown) {
  EXPECT_EQ(Covers({8}, {V(0) - C(1)}, {}, {8}), Coverage::kUnknown);
  EXPECT_EQ(Covers({8}, {V(0) * V(0)}, {}, {8}), Coverage::kUnknown);
}

}  // namespace
}  // namespace tilewright::sketch
