// Hand-written tile kernels through Legalize: the scalar tier computes what the
// tile tier does, with the instructions one would write.
#include "backends/lowering/vectorize/legalize.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/kernel_ir/interpreter.h"
#include "backends/lowering/testing/legalize_testing.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

using namespace legalize_testing;  // NOLINT: the writer and its checks

// y[m, n] = max(sum over k of a[m, k] * b[k, n], 0), tiles of mt x nt in
// registers.
Kernel Gemm(int64_t m, int64_t n, int64_t k, int64_t mt, int64_t nt,
            Layout b_layout) {
  Writer w;
  const int a = w.Input("a", {m, k});
  const int b =
      w.Buffer("b", Level::kGlobal, Role::kConstant, std::move(b_layout));
  const int y = w.Output("y", {m, n}), acc = w.Registers("acc", {mt, nt});
  Expr m0 = w.Var("m0"), n0 = w.Var("n0"), kk = w.Var("k");
  Expr mi = w.Var("mi"), ni = w.Var("ni"), mu = w.Var("mu"), nu = w.Var("nu"),
       me = w.Var("me"), ne = w.Var("ne");
  Stmt init = Writer::Op(TileOp::Phase::kInit,
                         {Writer::Axis(mi, mt), Writer::Axis(ni, nt)}, acc,
                         {mi, ni}, {});
  Stmt update =
      Writer::Op(TileOp::Phase::kUpdate,
                 {Writer::Axis(mu, mt), Writer::Axis(nu, nt)}, acc, {mu, nu},
                 {Mul(w.Load(a, {m0 * I(mt) + mu, kk}),
                      w.Load(b, {kk, n0 * I(nt) + nu}))});
  Stmt store = Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(me, mt), Writer::Axis(ne, nt)}, y,
      {m0 * I(mt) + me, n0 * I(nt) + ne},
      {Expr::Make(Op::kMax, {w.Load(acc, {me, ne}), Expr::Float(0)})});
  std::vector<Stmt> body;
  body.push_back(std::move(init));
  body.push_back(Writer::Loop(kk, k, {std::move(update)}));
  body.push_back(std::move(store));
  w.kernel.body.push_back(Writer::Loop(
      m0, m / mt, {Writer::Loop(n0, n / nt, std::move(body), For::Kind::kTask)},
      For::Kind::kTask));
  return std::move(w.kernel);
}

// Tiles of 8 x `width` whose B lies in panels of as many columns: all in
// registers, nothing gathered.
ScalarKernel PanelsInRegisters(int64_t n, int64_t width) {
  LegalizeReport report;
  ScalarKernel scalar = ExpectSame(
      Gemm(16, n, 20, 8, width,
           *Layout::Create({20, n}, {0, 0}, {0, 0},
                           {{1, width, n / width}, {0, 1, 20}, {1, 1, width}},
                           Layout::Fill::kUndefined)),
      &report);
  EXPECT_EQ(report.max_live_accumulators, 24);
  EXPECT_TRUE(report.demoted.empty());
  EXPECT_EQ(report.gathers, 0) << scalar.ToString();
  return scalar;
}

TEST(Legalize, GemmTileHasOneBroadcastPerRowAndOneLoadPerVector) {
  const ScalarKernel scalar = PanelsInRegisters(96, 48);
  EXPECT_EQ(Count<kernel_ir::FmaInst>(scalar.body, "k", scalar), 24);
  EXPECT_EQ(Count<kernel_ir::SplatInst>(scalar.body, "k", scalar), 8);
  EXPECT_EQ(Count<kernel_ir::LoadInst>(scalar.body, "k", scalar), 8 + 3);
  // The addresses: one sum for A, a product and a sum for B.
  EXPECT_LE(Count<kernel_ir::OpInst>(scalar.body, "k", scalar), 3)
      << scalar.ToString();
  EXPECT_EQ(Count<kernel_ir::ConstInst>(scalar.body, "k", scalar), 0);
}

// The last vector's lanes beyond the panel are asked for by nobody.
TEST(Legalize, PanelsMayEndWithinAVector) { PanelsInRegisters(72, 36); }

TEST(Legalize, EveryTileOfGemmThatFitsRegisters) {
  for (int64_t mt : {1, 2, 3, 5}) {
    for (int64_t nt : {1, 2, 3, 7, 8, 16, 17, 31, 33})
      ExpectSame(
          Gemm(mt * 2, nt * 2, 5, mt, nt, Layout::RowMajor({5, nt * 2})));
  }
}

TEST(Legalize, DirectConvolutionOnBlockedChannelsRunsAlongTheChannels) {
  // NCHW16c with a halo; weights [ocb][ic][kh][kw][16]; a tile of 2 channel
  // blocks by 7 pixels.
  const int64_t c = 32, hw = 14, oc = 32;
  Writer w;
  std::vector<int64_t> shape = {1, c, hw, hw}, none = {0, 0, 0, 0},
                       one = {0, 0, 1, 1};
  const int x = w.Buffer("x", Level::kGlobal, Role::kInput,
                         Layout::BlockedLast(shape, 1, 16)
                             .WithHalo(one, one, Layout::Fill::kZero));
  const int f = w.Buffer(
      "f", Level::kGlobal, Role::kConstant,
      *Layout::Create(
          {oc, c, 3, 3}, none, none,
          {{0, 16, oc / 16}, {1, 1, c}, {2, 1, 3}, {3, 1, 3}, {0, 1, 16}},
          Layout::Fill::kUndefined));
  const int y = w.Buffer("y", Level::kGlobal, Role::kOutput,
                         Layout::BlockedLast({1, oc, hw, hw}, 1, 16));
  const int acc = w.Registers("acc", {32, 7});
  Expr h = w.Var("h"), w0 = w.Var("w0"), ic = w.Var("ic"), kh = w.Var("kh"),
       kw = w.Var("kw");
  Expr oi = w.Var("oi"), wi = w.Var("wi"), ou = w.Var("ou"), wu = w.Var("wu"),
       oe = w.Var("oe"), we = w.Var("we");
  Stmt init = Writer::Op(TileOp::Phase::kInit,
                         {Writer::Axis(oi, 32), Writer::Axis(wi, 7)}, acc,
                         {oi, wi}, {});
  Stmt update = Writer::Op(
      TileOp::Phase::kUpdate, {Writer::Axis(ou, 32), Writer::Axis(wu, 7)}, acc,
      {ou, wu},
      {Mul(w.Load(x, {I(0), ic, h + kh - I(1), w0 * I(7) + wu + kw - I(1)}),
           w.Load(f, {ou, ic, kh, kw}))});
  Stmt store = Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(oe, 32), Writer::Axis(we, 7)}, y,
      {I(0), oe, h, w0 * I(7) + we}, {w.Load(acc, {oe, we})});
  std::vector<Stmt> body;
  body.push_back(std::move(init));
  body.push_back(Writer::Loop(
      ic, c,
      {Writer::Loop(kh, 3, {Writer::Loop(kw, 3, {std::move(update)})})}));
  body.push_back(std::move(store));
  w.kernel.body.push_back(Writer::Loop(
      h, hw, {Writer::Loop(w0, 2, std::move(body))}, For::Kind::kTask));
  LegalizeReport report;
  const ScalarKernel scalar = ExpectSame(w.kernel, &report);
  EXPECT_EQ(report.gathers, 0);
  EXPECT_TRUE(report.demoted.empty());
  EXPECT_EQ(Count<kernel_ir::FmaInst>(scalar.body, "kw", scalar), 14);
  EXPECT_EQ(Count<kernel_ir::LoadInst>(scalar.body, "kw", scalar), 7 + 2);
}

// Panels of b are one per n0, and 4 tiles along m0, inside, read each, in tasks
// of their own or in loops: every step of every tile prefetches a quarter of 3
// lines.
TEST(Legalize, LargeOperandsArePrefetchedAShareAhead) {
  const Layout panels = *Layout::Create({64, 480}, {0, 0}, {0, 0},
                                        {{1, 48, 10}, {0, 1, 64}, {1, 1, 48}},
                                        Layout::Fill::kUndefined);
  using Kind = For::Kind;
  for (const auto& [shares, tiles] : {std::pair(Kind::kTask, Kind::kTask),
                                      {Kind::kTask, Kind::kSerial},
                                      {Kind::kSerial, Kind::kSerial}}) {
    Kernel kernel = Gemm(32, 480, 64, 8, 48, panels);
    auto& outer = std::get<For>(kernel.body[0].node);
    auto& inner = std::get<For>(outer.body[0].node);
    std::swap(outer.var, inner.var);
    std::swap(outer.name, inner.name);
    std::swap(outer.extent, inner.extent);
    outer.kind = shares;
    inner.kind = tiles;
    ExpectSame(kernel);
    VectorTarget target;
    TW_ASSERT_OK_AND_ASSIGN(ScalarKernel without, Legalize(kernel, target));
    EXPECT_EQ(Count<kernel_ir::PrefetchInst>(without.body, "", without), 0);
    target.prefetch_above_bytes = 64 * 480 * 4 - 1;
    TW_ASSERT_OK_AND_ASSIGN(ScalarKernel with, Legalize(kernel, target));
    EXPECT_EQ(Count<kernel_ir::PrefetchInst>(with.body, "k", with), 1);
    std::vector<std::string> args = Arguments(kernel);
    TW_ASSERT_OK(
        InterpretScalarKernel(with, absl::MakeSpan(args), 0, with.num_tasks));
    std::vector<std::string> expected = Arguments(kernel);
    TW_ASSERT_OK(InterpretTileKernel(kernel, absl::MakeSpan(expected)));
    EXPECT_TRUE(args == expected);
    target.prefetch_above_bytes = 64 * 480 * 4;
    TW_ASSERT_OK_AND_ASSIGN(ScalarKernel small, Legalize(kernel, target));
    EXPECT_EQ(Count<kernel_ir::PrefetchInst>(small.body, "", small), 0);
    // Steps that a schedule asks for too: 3 lines of the panel and 8 rows come
    // closer beside the next panel. It may also ask for none at all.
    for (const auto& [steps, expected] : {std::pair(4, 1 + 3 + 8), {0, 0}}) {
      target.prefetch_above_bytes = 1;
      for (Stmt& stmt : inner.body) {
        if (auto* loop = std::get_if<For>(&stmt.node))
          loop->hints.prefetch = steps;
      }
      TW_ASSERT_OK_AND_ASSIGN(ScalarKernel asked, Legalize(kernel, target));
      EXPECT_EQ(Count<kernel_ir::PrefetchInst>(asked.body, "k", asked),
                expected);
    }
  }
}

TEST(Legalize, PaddingByGuardsMasksTheLoads) {
  // y[w] = sum over k of select(0 <= w + k - 1 < 37, x[w + k - 1], 0)
  Writer w;
  const int x = w.Input("x", {37}), y = w.Output("y", {37}),
            acc = w.Registers("acc", {37});
  Expr k = w.Var("k"), a = w.Var("a"), b = w.Var("b"), c = w.Var("c");
  Expr at = b + k - I(1);
  Stmt init =
      Writer::Op(TileOp::Phase::kInit, {Writer::Axis(a, 37)}, acc, {a}, {});
  Stmt update =
      Writer::Op(TileOp::Phase::kUpdate, {Writer::Axis(b, 37)}, acc, {b},
                 {Select(And(Ge(at, I(0)), Lt(at, I(37))), w.Load(x, {at}),
                         Expr::Float(0))});
  Stmt store = Writer::Op(TileOp::Phase::kMap, {Writer::Axis(c, 37)}, y, {c},
                          {w.Load(acc, {c})});
  w.kernel.body.push_back(std::move(init));
  w.kernel.body.push_back(Writer::Loop(k, 3, {std::move(update)}));
  w.kernel.body.push_back(std::move(store));
  const ScalarKernel scalar = ExpectSame(w.kernel);
  // The middle vector can never reach outside.
  EXPECT_EQ(Count<kernel_ir::LoadInst>(
                scalar.body, "k", scalar, false,
                [](const auto& l) { return l.mask == kernel_ir::kNoReg; }),
            1);
}

TEST(Legalize, PredicateMasksStoresAndKeepsTheRest) {
  Writer w;
  const int x = w.Input("x", {5, 40}), y = w.Output("y", {5, 40});
  Expr m = w.Var("m"), n = w.Var("n");
  w.kernel.body.push_back(Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(m, 5), Writer::Axis(n, 40)}, y, {m, n},
      {w.Load(x, {m, n})}, And(Lt(m + n, I(30)), Ge(n, I(3)))));
  ExpectSame(w.kernel);
}

TEST(Legalize, PredicateOnLoopsBecomesOneBranch) {
  Writer w;
  const int x = w.Input("x", {5, 32}), y = w.Output("y", {5, 32});
  Expr m = w.Var("m"), n = w.Var("n");
  w.kernel.body.push_back(
      Writer::Loop(m, 5,
                   {Writer::Op(TileOp::Phase::kMap, {Writer::Axis(n, 32)}, y,
                               {m, n}, {w.Load(x, {m, n})}, Lt(m, I(3)))}));
  const ScalarKernel scalar = ExpectSame(w.kernel);
  EXPECT_EQ(Count<kernel_ir::IfInst>(scalar.body, "m", scalar), 1);
  EXPECT_EQ(Count<kernel_ir::StoreInst>(
                scalar.body, "m", scalar, false,
                [](const auto& s) { return s.mask != kernel_ir::kNoReg; }),
            0);
}

TEST(Legalize, RegistersReadAcrossLanesComeOutOfTheirVector) {
  // s[m] = sum over n of x[m, n] in registers; y[m, n] = x[m, n] * s[m].
  Writer w;
  const int x = w.Input("x", {6, 20}), y = w.Output("y", {6, 20}),
            s = w.Registers("s", {6});
  Expr n0 = w.Var("n0"), a = w.Var("a"), b = w.Var("b"), c = w.Var("c"),
       d = w.Var("d");
  w.kernel.body.push_back(
      Writer::Op(TileOp::Phase::kInit, {Writer::Axis(a, 6)}, s, {a}, {}));
  w.kernel.body.push_back(
      Writer::Loop(n0, 20,
                   {Writer::Op(TileOp::Phase::kUpdate, {Writer::Axis(b, 6)}, s,
                               {b}, {w.Load(x, {b, n0})})}));
  w.kernel.body.push_back(
      Writer::Op(TileOp::Phase::kMap, {Writer::Axis(c, 6), Writer::Axis(d, 20)},
                 y, {c, d}, {Mul(w.Load(x, {c, d}), w.Load(s, {c}))}));
  LegalizeReport report;
  ExpectSame(w.kernel, &report);
  EXPECT_TRUE(report.demoted.empty());
}

TEST(Legalize, RegistersWithVaryingIndexAreDemotedAndNamed) {
  Writer w;
  const int x = w.Input("x", {100, 16}), y = w.Output("y", {100, 16}),
            t = w.Registers("t", {100, 16});
  Expr m = w.Var("m"), n = w.Var("n"), p = w.Var("p"), q = w.Var("q");
  w.kernel.body.push_back(
      Writer::Loop(m, 100,
                   {Writer::Op(TileOp::Phase::kMap, {Writer::Axis(n, 16)}, t,
                               {m, n}, {w.Load(x, {m, n})})}));
  w.kernel.body.push_back(
      Writer::Loop(p, 100,
                   {Writer::Op(TileOp::Phase::kMap, {Writer::Axis(q, 16)}, y,
                               {p, q}, {w.Load(t, {p, q})})}));
  LegalizeReport report;
  ExpectSame(w.kernel, &report);
  ASSERT_EQ(report.demoted.size(), 1u);
  EXPECT_EQ(report.demoted[0], "t");
}

// Both axes are contiguous in an operand, and vectors along the rows would be
// fewer; but an update of rows 2 to 12 has no vectors that begin at row 0.
TEST(Legalize, LanesTurnWhereOneOperationCannotHaveThem) {
  Writer w;
  const int x = w.Input("x", {4, 13}), f = w.Input("f", {4, 24}),
            y = w.Output("y", {13, 24}), t = w.Registers("t", {13, 24});
  Expr k = w.Var("k"), a = w.Var("a"), b = w.Var("b"), c = w.Var("c"),
       d = w.Var("d"), m = w.Var("m"), n = w.Var("n"), p = w.Var("p"),
       q = w.Var("q");
  w.kernel.body.push_back(Writer::Op(TileOp::Phase::kInit,
                                     {Writer::Axis(a, 13), Writer::Axis(b, 24)},
                                     t, {a, b}, {}));
  w.kernel.body.push_back(Writer::Loop(
      k, 4,
      {Writer::Op(TileOp::Phase::kUpdate,
                  {Writer::Axis(m, 13), Writer::Axis(n, 24)}, t, {m, n},
                  {Mul(w.Load(x, {k, m}), w.Load(f, {k, n}))}),
       Writer::Op(TileOp::Phase::kUpdate,
                  {Writer::Axis(p, 11), Writer::Axis(q, 24)}, t, {p + I(2), q},
                  {Mul(w.Load(x, {k, p + I(2)}), w.Load(f, {k, q}))})}));
  w.kernel.body.push_back(Writer::Op(TileOp::Phase::kMap,
                                     {Writer::Axis(c, 13), Writer::Axis(d, 24)},
                                     y, {c, d}, {w.Load(t, {c, d})}));
  LegalizeReport report;
  ExpectSame(w.kernel, &report);
  EXPECT_TRUE(report.demoted.empty());
}

TEST(Legalize, ArgMaxKeepsValueAndIndexTogether) {
  Writer w;
  const int x = w.Input("x", {9, 20});
  const int y = w.Buffer("y", Level::kGlobal, Role::kOutput,
                         Layout::RowMajor({20}), DType::kInt64);
  const int v = w.Registers("v", {20});
  const int i = w.Buffer("i", Level::kRegisters, Role::kLocal,
                         Layout::RowMajor({20}), DType::kInt64);
  const Combiner argmax(Combiner::Kind::kArgMax, DType::kFloat32);
  Expr k = w.Var("k"), a = w.Var("a"), b = w.Var("b"), c = w.Var("c");
  Stmt init = Writer::Op(TileOp::Phase::kInit, {Writer::Axis(a, 20)}, v, {a},
                         {}, Expr(), argmax);
  std::get<TileOp>(init.node).dst = {v, i};
  Stmt update = Writer::Op(TileOp::Phase::kUpdate, {Writer::Axis(b, 20)}, v,
                           {b}, {w.Load(x, {k, b}), k}, Expr(), argmax);
  std::get<TileOp>(update.node).dst = {v, i};
  w.kernel.body.push_back(std::move(init));
  w.kernel.body.push_back(Writer::Loop(k, 9, {std::move(update)}));
  w.kernel.body.push_back(Writer::Op(TileOp::Phase::kMap, {Writer::Axis(c, 20)},
                                     y, {c}, {w.Load(i, {c})}));
  ExpectSame(w.kernel);
}

TEST(Legalize, GatherOfRowsLoadsWholeVectors) {
  Writer w;
  const int table = w.Input("table", {12, 32});
  const int rows = w.Buffer("rows", Level::kGlobal, Role::kInput,
                            Layout::RowMajor({7}), DType::kInt64);
  const int y = w.Output("y", {7, 32});
  Expr m = w.Var("m"), n = w.Var("n");
  Expr row = Expr::Make(
      Op::kMin, {Expr::Make(Op::kMax, {w.Load(rows, {m}), I(0)}), I(11)});
  w.kernel.body.push_back(Writer::Op(TileOp::Phase::kMap,
                                     {Writer::Axis(m, 7), Writer::Axis(n, 32)},
                                     y, {m, n}, {w.Load(table, {row, n})}));
  LegalizeReport report;
  ExpectSame(w.kernel, &report);
  EXPECT_EQ(report.gathers, 0);
}

TEST(Legalize, AxisAsAValue) {
  Writer w;
  const int y = w.Buffer("y", Level::kGlobal, Role::kOutput,
                         Layout::RowMajor({3, 40}), DType::kInt64);
  Expr m = w.Var("m"), n = w.Var("n");
  w.kernel.body.push_back(Writer::Op(TileOp::Phase::kMap,
                                     {Writer::Axis(m, 3), Writer::Axis(n, 40)},
                                     y, {m, n}, {n * I(3) + m}));
  ExpectSame(w.kernel);
}

TEST(Legalize, LargeBoxesAreLoopedOver) {
  Writer w;
  const int x = w.Input("x", {50, 1000}), y = w.Output("y", {50, 1000});
  Expr m = w.Var("m"), n = w.Var("n");
  w.kernel.body.push_back(Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(m, 50), Writer::Axis(n, 1000)}, y,
      {m, n}, {w.Load(x, {m, n})}));
  const ScalarKernel scalar = ExpectSame(w.kernel);
  EXPECT_LE(Count<kernel_ir::StoreInst>(scalar.body, "", scalar), 32);
}

TEST(Legalize, WritesInTwoHalvesKeepEachOther) {
  // Two operations fill different lanes of one register vector.
  Writer w;
  const int x = w.Input("x", {16}), y = w.Output("y", {16}),
            t = w.Registers("t", {16});
  Expr a = w.Var("a"), b = w.Var("b"), c = w.Var("c");
  w.kernel.body.push_back(Writer::Op(TileOp::Phase::kMap, {Writer::Axis(a, 16)},
                                     t, {a}, {w.Load(x, {a})}));
  w.kernel.body.push_back(
      Writer::Op(TileOp::Phase::kMap, {Writer::Axis(b, 7)}, t, {b},
                 {Expr::Make(Op::kAdd, {w.Load(t, {b}), Expr::Float(100)})}));
  w.kernel.body.push_back(Writer::Op(TileOp::Phase::kMap, {Writer::Axis(c, 16)},
                                     y, {c}, {w.Load(t, {c})}));
  ExpectSame(w.kernel);
}

// y[r] = x[r, :] joined, in `lanes` partial results of `rows` rows at a time.
Kernel JoinedRows(const Combiner& combiner, int64_t rows, int64_t lanes,
                  int64_t steps) {
  Writer w;
  const int x = w.Input("x", {rows, steps * lanes}), y = w.Output("y", {rows}),
            partial = w.Registers("partial", {rows, lanes}),
            sum = w.Registers("sum", {rows});
  const auto op = [&](TileOp::Phase phase, std::vector<TileAxis> box, int dst,
                      std::vector<Expr> index, std::vector<Expr> body) {
    return Writer::Op(phase, std::move(box), dst, std::move(index),
                      std::move(body), Expr(), combiner);
  };
  Expr ri = w.Var("ri"), li = w.Var("li"), k = w.Var("k"), ru = w.Var("ru"),
       lu = w.Var("lu"), rs = w.Var("rs"), l = w.Var("l"), rj = w.Var("rj"),
       ro = w.Var("ro");
  std::vector<Stmt>& body = w.kernel.body;
  body.push_back(op(TileOp::Phase::kInit,
                    {Writer::Axis(ri, rows), Writer::Axis(li, lanes)}, partial,
                    {ri, li}, {}));
  body.push_back(Writer::Loop(
      k, steps,
      {op(TileOp::Phase::kUpdate,
          {Writer::Axis(ru, rows), Writer::Axis(lu, lanes)}, partial, {ru, lu},
          {w.Load(x, {ru, k * I(lanes) + lu})})}));
  body.push_back(
      op(TileOp::Phase::kInit, {Writer::Axis(rs, rows)}, sum, {rs}, {}));
  body.push_back(
      Writer::Loop(l, lanes,
                   {op(TileOp::Phase::kUpdate, {Writer::Axis(rj, rows)}, sum,
                       {rj}, {w.Load(partial, {rj, l})})}));
  body.push_back(op(TileOp::Phase::kMap, {Writer::Axis(ro, rows)}, y, {ro},
                    {w.Load(sum, {ro})}));
  return std::move(w.kernel);
}

TEST(Legalize, LanesAreJoinedAsATree) {
  for (const Combiner::Kind kind :
       {Combiner::Kind::kSum, Combiner::Kind::kMax}) {
    for (const int64_t rows : {1, 3}) {
      for (const int64_t lanes : {16, 32, 48, 64, 40, 5}) {
        LegalizeReport report;
        const ScalarKernel scalar = ExpectSame(
            JoinedRows(Combiner(kind, DType::kFloat32), rows, lanes, 3),
            &report);
        // The last target has 16 lanes.
        EXPECT_EQ(report.lane_reductions, lanes % 16 == 0 ? rows : 0) << lanes;
        if (lanes % 16 != 0) continue;
        EXPECT_EQ(report.gathers, 0);
        EXPECT_TRUE(report.demoted.empty());
        EXPECT_EQ(Count<kernel_ir::ForInst>(scalar.body, "", scalar), 1);
      }
    }
  }
}

TEST(Legalize, RefusesVectorsOfNoUsableSize) {
  VectorTarget target;
  target.vector_bytes = 24;
  EXPECT_EQ(Legalize(Gemm(2, 2, 2, 2, 2, Layout::RowMajor({2, 2})), target)
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tilewright::lowering
