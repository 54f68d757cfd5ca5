#include "sketch/tree/block_region.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/testing/test_workloads.h"
#include "sketch/tree/initial_tree.h"
#include "sketch/tree/tree_edit.h"

namespace tilewright::sketch {
namespace {

Expr V(int var) { return Expr::Var(var, "v" + std::to_string(var)); }
Expr C(int64_t value) { return Expr::Int(value); }

// Variable 0 is outside with 8 values, 1 and 2 are inside with 3 each.
const RangeOf kRanges = [](int var) -> std::optional<Range> {
  return Range{0, var == 0 ? 7 : 2};
};
const IsInner kInner = [](int var) { return var != 0; };

RegionDim Iterated(const Expr& binding, const std::vector<Expr>& predicates,
                   int64_t extent = 64) {
  return IteratedRegion(binding, extent, predicates, kInner, kRanges);
}

TEST(IteratedRegionTest, InnerLoopsRangeOuterLoopsAreFixed) {
  RegionDim r = Iterated(V(0) * C(9) + V(1) * C(3) + V(2), {}, 72);
  EXPECT_EQ(r.base, V(0) * C(9));
  EXPECT_EQ(r.extent, 9);
  EXPECT_EQ(r.step, 1);
  EXPECT_TRUE(r.exact);
  EXPECT_EQ(Iterated(V(0), {}).extent, 1);
}

TEST(IteratedRegionTest, PredicatesCutTails) {
  Expr inner = V(1) * C(3) + V(2);
  Expr tail = Expr::Make(Op::kLt, {inner, C(8)});
  RegionDim r = Iterated(V(0) * C(8) + inner, {tail});
  EXPECT_EQ(r.extent, 8);
  EXPECT_TRUE(r.exact);
  // One that mixes inside and outside only clips the axis if it speaks of all
  // of it.
  Expr all = V(0) * C(9) + inner;
  EXPECT_TRUE(Iterated(all, {Expr::Make(Op::kLt, {all, C(70)})}, 70).exact);
  EXPECT_FALSE(
      Iterated(all, {Expr::Make(Op::kLt, {V(0) + V(1), C(5)})}, 72).exact);
}

TEST(IteratedRegionTest, StepsGapsAndTheUnknown) {
  RegionDim r = Iterated(V(0) + V(1) * C(8), {});
  EXPECT_EQ(r.extent, 3);
  EXPECT_EQ(r.step, 8);
  r = Iterated(V(1) * C(5) + V(2), {});
  EXPECT_EQ(r.extent, 13);
  EXPECT_FALSE(r.exact);
  r = Iterated(FloorDiv(V(0) * C(2) + V(1), C(5)), {}, 4);
  EXPECT_EQ(r.extent, 4);
  EXPECT_FALSE(r.exact);
}

TEST(NeededRegionTest, ConvolutionNeedsAHalo) {
  Workload workload = ConvPadRelu(3, 5, 9, 8, 3, 2, 1);
  TW_ASSERT_OK_AND_ASSIGN(BlockTree tree, InitialTree(workload));
  Path path = FindBlock(tree, "C");
  const Block& conv = *path.back().node().block;
  int padded = -1, x = -1;
  for (const Buffer& buffer : tree.buffers) {
    if (buffer.name == "P") padded = buffer.id;
    if (buffer.name == "X") x = buffer.id;
  }
  const int oh = LoopsAround(path)[2]->var;
  // One row of the output at a time.
  TW_ASSERT_OK_AND_ASSIGN(
      Region region, NeededRegion(
                         tree, conv, padded, [&](int var) { return var != oh; },
                         LoopRanges(tree)));
  ASSERT_EQ(region.size(), 4u);
  EXPECT_EQ(region[1].extent, 3);
  EXPECT_EQ(region[2].extent, 3);
  EXPECT_EQ(Simplify(region[2].base, LoopRanges(tree)),
            Simplify(Expr::Var(oh, "oh") * C(2), LoopRanges(tree)));
  EXPECT_EQ(NeededRegion(tree, conv, x, kInner, kRanges).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(HoldTest, BoxesStayInsideTheTensor) {
  auto hold = [](Expr base, int64_t extent, int64_t step, int64_t of) {
    RegionDim dim;
    dim.base = std::move(base);
    dim.extent = extent;
    dim.step = step;
    return Hold({dim}, {of}, kRanges)[0];
  };
  // A window with halo moves: both ends are clipped by predicates.
  HeldDim moving = hold(V(0) * C(4) - C(1), 6, 1, 32);
  EXPECT_EQ(moving.extent, 6);
  EXPECT_TRUE(moving.clip_below);
  EXPECT_TRUE(moving.clip_above);
  // Strides are held densely.
  EXPECT_EQ(hold(V(0), 3, 4, 32).extent, 9);
  // As wide as the tensor: all of it.
  HeldDim whole = hold(V(0) * C(4), 40, 1, 32);
  EXPECT_TRUE(whole.base.IsIntConst(0));
  EXPECT_EQ(whole.extent, 32);
  EXPECT_FALSE(whole.clip_above);
  // A fixed window is cut to what exists; one that is empty keeps one element.
  HeldDim fixed = hold(C(-2), 6, 1, 32);
  EXPECT_TRUE(fixed.base.IsIntConst(0));
  EXPECT_EQ(fixed.extent, 4);
  EXPECT_EQ(hold(C(40), 6, 1, 32).extent, 1);
}

}  // namespace
}  // namespace tilewright::sketch
