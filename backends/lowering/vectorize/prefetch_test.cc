// Which steps of an update prefetch what; the results stay the same.
#include <string>
#include <utility>
#include <vector>

#include "backends/kernel_ir/interpreter.h"
#include "backends/lowering/testing/legalize_testing.h"
#include "backends/lowering/vectorize/legalize.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

using namespace legalize_testing;  // NOLINT: the writer and its checks

// Channels of the broadcast operand lie in blocks of 16, a plane of rows each:
// with 64 rows a page, with 48 less. The loop around the update asks for
// prefetches so many steps ahead.
Kernel BlockedRows(int64_t rows, int ahead = -1, bool tiles = false) {
  const int64_t channels = 64, outputs = 32, tile = 6;
  Writer w;
  const int a = w.Buffer(
      "a", Level::kGlobal, Role::kInput,
      *Layout::Create({rows, channels}, {0, 0}, {0, 0},
                      {{1, 16, channels / 16}, {0, 1, rows}, {1, 1, 16}},
                      Layout::Fill::kUndefined));
  const int b = w.Input("b", {channels, outputs});
  const int y = w.Output("y", {rows / tile * tile, outputs});
  const int acc = w.Registers("acc", {tile, outputs});
  Expr m0 = w.Var("m0"), outer = w.Var("k.0"), inner = w.Var("k.1");
  Expr mi = w.Var("mi"), ni = w.Var("ni"), mu = w.Var("mu"), nu = w.Var("nu"),
       me = w.Var("me"), ne = w.Var("ne");
  const Expr k = outer * I(16) + inner;
  std::vector<Stmt> body;
  body.push_back(Writer::Op(TileOp::Phase::kInit,
                            {Writer::Axis(mi, tile), Writer::Axis(ni, outputs)},
                            acc, {mi, ni}, {}));
  Stmt update = Writer::Op(
      TileOp::Phase::kUpdate,
      {Writer::Axis(mu, tile), Writer::Axis(nu, outputs)}, acc, {mu, nu},
      {Mul(w.Load(a, {m0 * I(tile) + mu, k}), w.Load(b, {k, nu}))});
  Stmt steps = Writer::Loop(inner, 16, {std::move(update)});
  if (!tiles) std::get<For>(steps.node).hints.prefetch = ahead;
  body.push_back(Writer::Loop(outer, channels / 16, {std::move(steps)}));
  body.push_back(Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(me, tile), Writer::Axis(ne, outputs)},
      y, {m0 * I(tile) + me, ne}, {w.Load(acc, {me, ne})}));
  w.kernel.body.push_back(
      Writer::Loop(m0, rows / tile, std::move(body),
                   tiles ? For::Kind::kSerial : For::Kind::kTask));
  if (tiles) std::get<For>(w.kernel.body.back().node).hints.prefetch = ahead;
  return std::move(w.kernel);
}

// Six rows of sixteen channels lie side by side: of the next tile's each of
// sixteen steps asks for six channels, which are in one line, and for nothing
// of b.
TEST(Legalize, TheNextTileIsPrefetchedInShares) {
  const Kernel kernel = BlockedRows(48, 1, true);
  const absl::StatusOr<ScalarKernel> scalar = Legalize(kernel, {});
  TW_ASSERT_OK(scalar.status());
  EXPECT_EQ(Count<kernel_ir::PrefetchInst>(scalar->body, "k.1", *scalar), 1);
  std::vector<std::string> args = Arguments(kernel), expected = args;
  TW_EXPECT_OK(InterpretScalarKernel(*scalar, absl::MakeSpan(args), 0,
                                     scalar->num_tasks));
  TW_EXPECT_OK(InterpretTileKernel(kernel, absl::MakeSpan(expected)));
  EXPECT_TRUE(args == expected);
}

// Fourteen pixels of each channel's plane: of the next tile's each step asks
// for its own, not for all that lies up to the next plane.
TEST(Legalize, StepsFromPlaneToPlanePrefetchWhatTheyRead) {
  const int64_t channels = 20, tile = 14, tiles = 40, outputs = 24;
  Writer w;
  const int a = w.Input("a", {channels, tiles * tile});
  const int b = w.Input("b", {channels, outputs});
  const int y = w.Output("y", {outputs, tiles * tile});
  const int acc = w.Registers("acc", {outputs, tile});
  const Expr m0 = w.Var("m0"), k = w.Var("k");
  const Expr mi = w.Var("mi"), ni = w.Var("ni"), mu = w.Var("mu"),
             nu = w.Var("nu"), me = w.Var("me"), ne = w.Var("ne");
  Stmt update = Writer::Op(
      TileOp::Phase::kUpdate,
      {Writer::Axis(nu, outputs), Writer::Axis(mu, tile)}, acc, {nu, mu},
      {Mul(w.Load(a, {k, m0 * I(tile) + mu}), w.Load(b, {k, nu}))});
  std::vector<Stmt> body;
  body.push_back(Writer::Op(TileOp::Phase::kInit,
                            {Writer::Axis(ni, outputs), Writer::Axis(mi, tile)},
                            acc, {ni, mi}, {}));
  body.push_back(Writer::Loop(k, channels, {std::move(update)}));
  body.push_back(Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(ne, outputs), Writer::Axis(me, tile)},
      y, {ne, m0 * I(tile) + me}, {w.Load(acc, {ne, me})}));
  w.kernel.body.push_back(Writer::Loop(m0, tiles, std::move(body)));
  std::get<For>(w.kernel.body.back().node).hints.prefetch = 1;
  const absl::StatusOr<ScalarKernel> scalar = Legalize(w.kernel, {});
  TW_ASSERT_OK(scalar.status());
  EXPECT_EQ(Count<kernel_ir::PrefetchInst>(scalar->body, "k", *scalar), 1);
  std::vector<std::string> args = Arguments(w.kernel), expected = args;
  TW_EXPECT_OK(InterpretScalarKernel(*scalar, absl::MakeSpan(args), 0,
                                     scalar->num_tasks));
  TW_EXPECT_OK(InterpretTileKernel(w.kernel, absl::MakeSpan(expected)));
  EXPECT_TRUE(args == expected);
}

TEST(Legalize, BroadcastsFromPagesFurtherOnArePrefetchedBlocksAhead) {
  VectorTarget target;
  const auto prefetches = [&](const Kernel& kernel) -> int64_t {
    const absl::StatusOr<ScalarKernel> scalar = Legalize(kernel, target);
    if (!scalar.ok()) return -1;
    std::vector<std::string> args = Arguments(kernel), expected = args;
    TW_EXPECT_OK(InterpretScalarKernel(*scalar, absl::MakeSpan(args), 0,
                                       scalar->num_tasks));
    TW_EXPECT_OK(InterpretTileKernel(kernel, absl::MakeSpan(expected)));
    EXPECT_TRUE(args == expected);
    return Count<kernel_ir::PrefetchInst>(scalar->body, "k.1", *scalar);
  };
  EXPECT_EQ(prefetches(BlockedRows(64)), 0);
  target.prefetch_above_bytes = 64 * 64 * 4 - 1;
  // One in every step: six lines in sixteen steps.
  EXPECT_EQ(prefetches(BlockedRows(64)), 1);
  target.prefetch_above_bytes = 64 * 64 * 4;
  EXPECT_EQ(prefetches(BlockedRows(64)), 0);
  target.prefetch_above_bytes = 1;
  EXPECT_EQ(prefetches(BlockedRows(48)), 0);
  // Requests of a schedule take precedence over sizes and pages: none, or the
  // lines of six rows of a and of a row of b.
  EXPECT_EQ(prefetches(BlockedRows(64, 0)), 0);
  EXPECT_EQ(prefetches(BlockedRows(48, 2)), 6 + 2);
  target.prefetch_above_bytes = 0;
  EXPECT_EQ(prefetches(BlockedRows(48, 2)), 6 + 2);
}

// Tiles of four vectors move by two: of the next block's, the step before has
// asked for the first two.
TEST(Legalize, OverlappingReadsOfAMapArePrefetchedOnce) {
  const auto make = [](int ahead) {
    const int64_t blocks = 3, tiles = 5, lanes = 16;
    Writer w;
    const int a = w.Input("a", {blocks, tiles * 2 + 2, lanes}),
              y = w.Output("y", {blocks, tiles, lanes});
    const Expr block = w.Var("block"), x = w.Var("x"), lane = w.Var("lane");
    const auto at = [&](int64_t i) {
      return w.Load(a, {block, x * I(2) + I(i), lane});
    };
    const auto add = [](const Expr& p, const Expr& q) {
      return Expr::Make(Op::kAdd, {p, q});
    };
    Stmt sums = Writer::Op(TileOp::Phase::kMap, {Writer::Axis(lane, lanes)}, y,
                           {block, x, lane},
                           {add(add(at(0), at(1)), add(at(2), at(3)))});
    Stmt row = Writer::Loop(x, tiles, {std::move(sums)});
    w.kernel.body.push_back(Writer::Loop(block, blocks, {std::move(row)}));
    std::get<For>(w.kernel.body.back().node).hints.prefetch = ahead;
    return std::move(w.kernel);
  };
  for (const int ahead : {-1, 0, 1, 2}) {
    const Kernel kernel = make(ahead);
    const absl::StatusOr<ScalarKernel> scalar = Legalize(kernel, {});
    TW_ASSERT_OK(scalar.status());
    EXPECT_EQ(Count<kernel_ir::PrefetchInst>(scalar->body, "x", *scalar),
              ahead > 0 ? 2 : 0);
    std::vector<std::string> args = Arguments(kernel), expected = args;
    TW_EXPECT_OK(InterpretScalarKernel(*scalar, absl::MakeSpan(args), 0,
                                       scalar->num_tasks));
    TW_EXPECT_OK(InterpretTileKernel(kernel, absl::MakeSpan(expected)));
    EXPECT_TRUE(args == expected);
  }
}

}  // namespace
}  // namespace tilewright::lowering
