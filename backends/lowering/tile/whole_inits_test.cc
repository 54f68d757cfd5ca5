#include "backends/lowering/tile/whole_inits.h"

#include <utility>
#include <vector>

#include "backends/lowering/testing/legalize_testing.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

using namespace legalize_testing;  // NOLINT: the writer and its checks

// y[r, c] = sum over k of x[r - 1, c, k] where r >= 1, and 0 in the first row:
// rows one after the other, `width` columns at a time in a buffer of `places`.
Kernel RowsBelowABorder(Level level, int64_t width, int64_t places) {
  Writer w;
  const int x = w.Input("x", {3, 16, 5}), y = w.Output("y", {4, 16});
  const int sum =
      w.Buffer("sum", level, Role::kLocal, Layout::RowMajor({places}));
  const Expr r = w.Var("r"), k = w.Var("k");
  const Expr ci = w.Var("ci"), cu = w.Var("cu"), cm = w.Var("cm");
  const auto there = [&](const Expr& c) {
    return And(Ge(r, I(1)), Lt(c, I(16)));
  };
  Stmt init = Writer::Op(TileOp::Phase::kInit, {Writer::Axis(ci, width)}, sum,
                         {ci}, {}, there(ci));
  Stmt update =
      Writer::Op(TileOp::Phase::kUpdate, {Writer::Axis(cu, width)}, sum, {cu},
                 {w.Load(x, {r - I(1), cu, k})}, there(cu));
  Stmt store = Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(cm, width)}, y, {r, cm},
      {Select(Ge(r, I(1)), w.Load(sum, {cm}), Expr::Float(0))}, Lt(cm, I(16)));
  std::vector<Stmt> body;
  body.push_back(std::move(init));
  body.push_back(Writer::Loop(k, 5, {std::move(update)}));
  body.push_back(std::move(store));
  w.kernel.body.push_back(Writer::Loop(r, 4, std::move(body)));
  return std::move(w.kernel);
}

const TileOp& InitOf(const Kernel& kernel) {
  return std::get<TileOp>(std::get<For>(kernel.body[0].node).body[0].node);
}

TEST(WholeInitsTest, RegistersBeginWithoutACondition) {
  Kernel kernel = RowsBelowABorder(Level::kRegisters, 16, 16);
  ASSERT_TRUE(InitOf(kernel).predicate);
  BeginSumsWhole(kernel);
  EXPECT_FALSE(InitOf(kernel).predicate) << kernel.ToString();
  // The one that is left is around the update.
  const ScalarKernel scalar = ExpectSame(kernel);
  EXPECT_EQ(Count<kernel_ir::IfInst>(scalar.body, "", scalar), 1);
}

TEST(WholeInitsTest, OtherMemoryKeepsWhatIsNotSummed) {
  Kernel kernel = RowsBelowABorder(Level::kScratch, 16, 16);
  BeginSumsWhole(kernel);
  EXPECT_TRUE(InitOf(kernel).predicate) << kernel.ToString();
  ExpectSame(kernel);
}

TEST(WholeInitsTest, WhatHasNoPlaceIsNotBegun) {
  Kernel kernel = RowsBelowABorder(Level::kRegisters, 20, 16);
  BeginSumsWhole(kernel);
  EXPECT_TRUE(InitOf(kernel).predicate) << kernel.ToString();
  ExpectSame(kernel);
}

}  // namespace
}  // namespace tilewright::lowering
