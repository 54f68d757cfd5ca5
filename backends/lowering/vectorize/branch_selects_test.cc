// Selects that loops decide, through Legalize.
#include "backends/lowering/vectorize/branch_selects.h"

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backends/lowering/testing/legalize_testing.h"
#include "backends/lowering/vectorize/vector_target.h"
#include "gtest/gtest.h"
#include "tilegraph/expr/dtype.h"

namespace tilewright::lowering {
namespace {

using namespace legalize_testing;  // NOLINT: the writer and its checks

constexpr int64_t kPixels = 6, kLanes = 16;

// y[block, p, c] is twice one of `parts` inputs of two blocks each, picked by a
// tree of selects.
Kernel Concatenated(int64_t parts) {
  Writer w;
  std::vector<int> inputs;
  for (int64_t i = 0; i < parts; ++i)
    inputs.push_back(w.Input("x" + std::to_string(i), {2, kPixels, kLanes}));
  const int y = w.Output("y", {2 * parts, kPixels, kLanes});
  const Expr block = w.Var("block"), p = w.Var("p"), c = w.Var("c");
  const std::function<Expr(int64_t, int64_t)> pick = [&](int64_t begin,
                                                         int64_t end) {
    if (end - begin == 1) {
      return Mul(w.Load(inputs[begin], {block - I(2 * begin), p, c}),
                 Expr::Float(2));
    }
    const int64_t middle = (begin + end) / 2;
    return Select(Lt(block, I(2 * middle)), pick(begin, middle),
                  pick(middle, end));
  };
  w.kernel.body.push_back(Writer::Loop(
      block, 2 * parts,
      {Writer::Loop(p, kPixels,
                    {Writer::Op(TileOp::Phase::kMap, {Writer::Axis(c, kLanes)},
                                y, {block, p, c}, {pick(0, parts)})})}));
  return std::move(w.kernel);
}

// Of branches, in the whole tile kernel.
int Branches(const std::vector<Stmt>& stmts) {
  int count = 0;
  for (const Stmt& stmt : stmts) {
    if (const auto* loop = std::get_if<For>(&stmt.node))
      count += Branches(loop->body);
    if (const auto* branch = std::get_if<kernel_ir::If>(&stmt.node))
      count += 1 + Branches(branch->then_body) + Branches(branch->else_body);
  }
  return count;
}

TEST(BranchSelectsTest, PartsOfAConcatenationAreToldApartOnce) {
  Kernel kernel = Concatenated(8);
  BranchOnSelects(kernel, VectorTarget());
  EXPECT_EQ(Branches(kernel.body), 7) << kernel.ToString();
  // Outside of the loop over pixels.
  const auto& loop = std::get<For>(kernel.body[0].node);
  ASSERT_EQ(loop.body.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<kernel_ir::If>(loop.body[0].node));
}

TEST(BranchSelectsTest, ResultsStay) {
  for (const int64_t parts : {2, 3, 5, 8}) ExpectSame(Concatenated(parts));
}

TEST(BranchSelectsTest, CopiesAreBounded) {
  Kernel kernel = Concatenated(60);
  BranchOnSelects(kernel, VectorTarget());
  EXPECT_EQ(Branches(kernel.body), 31) << kernel.ToString();
  ExpectSame(Concatenated(60));
}

// y[m, n] = `value` of x[m, n], which has 8 rows; y has 10.
Kernel Mapped(const std::function<Expr(const Expr& m, Expr x)>& value) {
  Writer w;
  const int x = w.Input("x", {8, kLanes}), y = w.Output("y", {10, kLanes});
  const Expr m = w.Var("m"), n = w.Var("n");
  w.kernel.body.push_back(Writer::Loop(
      m, 10,
      {Writer::Op(TileOp::Phase::kMap, {Writer::Axis(n, kLanes)}, y, {m, n},
                  {value(m, w.Load(x, {m - I(1), n}))})}));
  return std::move(w.kernel);
}

TEST(BranchSelectsTest, BordersAreToldApartToo) {
  const Kernel border = Mapped([](const Expr& m, Expr x) {
    return Select(And(Ge(m, I(1)), Lt(m, I(9))),
                  Mul(std::move(x), Expr::Float(3)), Expr::Float(0));
  });
  Kernel kernel = border;
  BranchOnSelects(kernel, VectorTarget());
  EXPECT_EQ(Branches(kernel.body), 1) << kernel.ToString();
  ExpectSame(border);
}

TEST(BranchSelectsTest, WhatCostsAsMuchOnBothSidesStays) {
  const Kernel tilted = Mapped([](const Expr& m, Expr x) {
    Expr value =
        Select(And(Ge(m, I(1)), Lt(m, I(9))), std::move(x), Expr::Float(0));
    for (int i = 0; i < 30; ++i) value = Mul(std::move(value), Expr::Float(-1));
    return value;
  });
  Kernel kernel = tilted;
  BranchOnSelects(kernel, VectorTarget());
  EXPECT_EQ(Branches(kernel.body), 0) << kernel.ToString();
  ExpectSame(tilted);
}

}  // namespace
}  // namespace tilewright::lowering
