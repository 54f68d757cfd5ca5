// Block trees written by hand through the passes, one at a time: every pass
// keeps what the interpreter computes, and does what it is for.
#include "backends/lowering/tile/lower.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "backends/kernel_ir/interpreter.h"
#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "sketch/tree/block_tree.h"

namespace tilewright::lowering {
namespace {

using kernel_ir::Kernel;
using sketch::Block;
using sketch::BlockTree;
using sketch::Loop;
using sketch::LoopKind;
using sketch::MemLevel;
using sketch::NodePtr;

Expr I(int64_t value) { return Expr::Int(value); }
Expr Lt(Expr a, Expr b) {
  return Expr::Make(Op::kLt, {std::move(a), std::move(b)});
}
Expr Ge(Expr a, Expr b) {
  return Expr::Make(Op::kGe, {std::move(a), std::move(b)});
}
Expr Axis0() { return Expr::Var(0, "a0"); }
Expr Axis1() { return Expr::Var(1, "a1"); }
Expr Axis2() { return Expr::Var(2, "a2"); }

// Writes block trees: loops get their variables in order of opening.
class TreeWriter {
 public:
  int Buffer(std::string name, MemLevel level, std::vector<int64_t> shape,
             std::vector<Expr> origin = {}) {
    const int id = static_cast<int>(tree_.buffers.size());
    if (origin.empty()) origin.assign(shape.size(), I(0));
    tree_.buffers.push_back({id, std::move(name), id, DType::kFloat32, level,
                             std::move(origin), Layout::RowMajor(shape)});
    return id;
  }
  Expr Open(std::string name, int64_t extent,
            LoopKind kind = LoopKind::kSerial) {
    auto node = std::make_unique<sketch::Node>();
    node->loop.emplace();
    node->loop->var = tree_.num_vars++;
    node->loop->name = name;
    node->loop->extent = extent;
    node->loop->kind = kind;
    Loop* loop = &*node->loop;
    Here().push_back(std::move(node));
    open_.push_back(loop);
    return Expr::Var(loop->var, name);
  }
  void Close(int loops = 1) { open_.resize(open_.size() - loops); }
  void Add(Block block) {
    auto node = std::make_unique<sketch::Node>();
    node->block = std::move(block);
    Here().push_back(std::move(node));
  }
  BlockTree Finish() { return std::move(tree_); }

 private:
  std::vector<NodePtr>& Here() {
    return open_.empty() ? tree_.roots : open_.back()->body;
  }
  BlockTree tree_;
  std::vector<Loop*> open_;
};

// dst[m, n] = sum over k of a[m, k] * b[k, n].
Block Product(int a, int b, int dst, int64_t m, int64_t n, int64_t k,
              std::vector<Expr> bindings, std::vector<Expr> predicates) {
  Block block;
  block.name = "T";
  block.axes = {{"m", m}, {"n", n}};
  block.reduce_axes = {{"k", k}};
  block.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
  block.body = {Expr::Make(
      Op::kMul, {Expr::Load(a, DType::kFloat32, {Axis0(), Axis2()}),
                 Expr::Load(b, DType::kFloat32, {Axis2(), Axis1()})})};
  block.bindings = std::move(bindings);
  block.predicates = std::move(predicates);
  block.dst = {dst};
  block.dst_index = {Axis0(), Axis1()};
  return block;
}

// y[m, n] = max(t[m, n], 0)
Block Relu(int t, int y, int64_t m, int64_t n, std::vector<Expr> bindings,
           std::vector<Expr> predicates) {
  Block block;
  block.name = "Y";
  block.axes = {{"m", m}, {"n", n}};
  block.body = {Expr::Make(
      Op::kMax,
      {Expr::Load(t, DType::kFloat32, {Axis0(), Axis1()}), Expr::Float(0)})};
  block.bindings = std::move(bindings);
  block.predicates = std::move(predicates);
  block.dst = {y};
  block.dst_index = {Axis0(), Axis1()};
  return block;
}

constexpr int64_t kM = 13, kN = 17, kK = 7;

// Tiles of 4 x 8 as tasks, k in steps of 2, the accumulator in registers, a
// tile box of 4 x 8: tails everywhere.
BlockTree TiledProduct() {
  TreeWriter w;
  const int a = w.Buffer("a", MemLevel::kGlobal, {kM, kK}),
            b = w.Buffer("b", MemLevel::kGlobal, {kK, kN});
  const int y = w.Buffer("y", MemLevel::kGlobal, {kM, kN});
  const Expr m0 = w.Open("m0", 4, LoopKind::kTask),
             n0 = w.Open("n0", 3, LoopKind::kTask);
  const int t =
      w.Buffer("t", MemLevel::kRegisters, {4, 8}, {m0 * I(4), n0 * I(8)});
  const Expr k0 = w.Open("k0", 4), k1 = w.Open("k1", 2);
  Expr m1 = w.Open("m1", 4, LoopKind::kTile),
       n1 = w.Open("n1", 8, LoopKind::kTile);
  Expr m = m0 * I(4) + m1, n = n0 * I(8) + n1;
  const Expr k = k0 * I(2) + k1;
  w.Add(Product(a, b, t, kM, kN, kK, {m, n, k},
                {Lt(m, I(kM)), Lt(n, I(kN)), Lt(k, I(kK))}));
  w.Close(4);
  m1 = w.Open("m2", 4, LoopKind::kTile);
  n1 = w.Open("n2", 8, LoopKind::kTile);
  m = m0 * I(4) + m1;
  n = n0 * I(8) + n1;
  w.Add(Relu(t, y, kM, kN, {m, n}, {Lt(m, I(kM)), Lt(n, I(kN))}));
  return w.Finish();
}

std::vector<float> Values(int64_t n, int seed) {
  std::vector<float> v(n);
  for (int64_t i = 0; i < n; ++i)
    v[i] = static_cast<float>((i * 7 + seed * 5) % 11 - 5);
  return v;
}
std::string Bytes(const std::vector<float>& v) {
  return std::string(reinterpret_cast<const char*>(v.data()),
                     v.size() * sizeof(float));
}

std::vector<float> ExpectedProduct(bool relu) {
  const std::vector<float> a = Values(kM * kK, 1), b = Values(kK * kN, 2);
  std::vector<float> y(kM * kN);
  for (int64_t m = 0; m < kM; ++m) {
    for (int64_t n = 0; n < kN; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < kK; ++k) sum += a[m * kK + k] * b[k * kN + n];
      y[m * kN + n] = relu && sum < 0 ? 0 : sum;
    }
  }
  return y;
}

void ExpectProduct(const Kernel& kernel, bool relu = true) {
  std::vector<std::string> args = {Bytes(Values(kM * kK, 1)),
                                   Bytes(Values(kK * kN, 2)),
                                   std::string(kM * kN * 4, '\xff')};
  TW_ASSERT_OK(kernel_ir::VerifyTileKernel(kernel)) << kernel.ToString();
  TW_ASSERT_OK(InterpretTileKernel(kernel, absl::MakeSpan(args)))
      << kernel.ToString();
  EXPECT_EQ(args[2], Bytes(ExpectedProduct(relu))) << kernel.ToString();
}

void ForEachOp(const std::vector<kernel_ir::Stmt>& stmts,
               const std::function<void(const kernel_ir::TileOp&)>& fn) {
  for (const kernel_ir::Stmt& s : stmts) {
    if (auto* loop = std::get_if<kernel_ir::For>(&s.node))
      ForEachOp(loop->body, fn);
    if (auto* branch = std::get_if<kernel_ir::If>(&s.node)) {
      ForEachOp(branch->then_body, fn);
      ForEachOp(branch->else_body, fn);
    }
    if (auto* op = std::get_if<kernel_ir::TileOp>(&s.node)) fn(*op);
  }
}
int CountPredicates(const Kernel& kernel) {
  int count = 0;
  ForEachOp(kernel.body, [&](const kernel_ir::TileOp& op) {
    count += static_cast<bool>(op.predicate);
  });
  return count;
}

TEST(LowerTest, EveryPassKeepsWhatIsComputed) {
  TW_ASSERT_OK_AND_ASSIGN(Kernel kernel, BuildTileKernel(TiledProduct(), "k"));
  ExpectProduct(kernel);
  SimplifyTileKernel(kernel);
  ExpectProduct(kernel);
  PartitionTails(kernel);
  ExpectProduct(kernel);
  SimplifyTileKernel(kernel);
  ExpectProduct(kernel);
  EXPECT_EQ(kernel.num_tasks(), 12);
}

TEST(LowerTest, PartitionLeavesNoPredicate) {
  TW_ASSERT_OK_AND_ASSIGN(Kernel kernel, Lower(TiledProduct(), "k"));
  EXPECT_EQ(CountPredicates(kernel), 0) << kernel.ToString();
  ExpectProduct(kernel);
}

TEST(LowerTest, InteriorTileIsOneBoxWithoutBranches) {
  TW_ASSERT_OK_AND_ASSIGN(Kernel kernel, Lower(TiledProduct(), "k"));
  // Numbers of variables are left out: m1.8 becomes m1.
  const std::string text = std::regex_replace(
      kernel.ToString(), std::regex("([mnk][012])\\.[0-9]+"), "$1");
  const size_t begin = text.find("  task for");
  EXPECT_EQ(text.substr(begin, text.find("        else:") - begin),
            "  task for m0 in 0..4:\n"
            "    task for n0 in 0..3:\n"
            "      if m0 < 3:\n"
            "        if n0 < 2:\n"
            "          init (m1: 4, n1: 8) %3[m1, n1] sum:f32\n"
            "          for k0 in 0..3:\n"
            "            for k1 in 0..2:\n"
            "              update (m1: 4, n1: 8) %3[m1, n1] sum:f32 { %0[m0 * "
            "4 + m1, k0 * 2 + k1] * %1[k0 * 2 + k1, n0 * 8 + n1] }\n"
            "          update (m1: 4, n1: 8) %3[m1, n1] sum:f32 { %0[m0 * 4 + "
            "m1, 6] * %1[6, n0 * 8 + n1] }\n"
            "          map (m2: 4, n2: 8) %2[m0 * 4 + m2, n0 * 8 + n2] { "
            "max(%3[m2, n2], 0.0) }\n");
}

TEST(LowerTest, GrowthIsBounded) {
  for (int limit : {0, 10, 20, 40, 400}) {
    TW_ASSERT_OK_AND_ASSIGN(Kernel kernel,
                            BuildTileKernel(TiledProduct(), "k"));
    SimplifyTileKernel(kernel);
    PartitionTails(kernel, limit);
    SimplifyTileKernel(kernel);
    ExpectProduct(kernel);
    int ops = 0;
    ForEachOp(kernel.body, [&](const kernel_ir::TileOp&) { ++ops; });
    EXPECT_LE(ops, std::max(limit, 3));
  }
}

// p = x with its first rows replaced by zeros, then y = max(p, 0): tasks of
// four rows, of which the first alone has a border.
constexpr int64_t kRows = 64, kColumns = 20, kZeroRows = 3;
BlockTree BorderedStages() {
  TreeWriter w;
  const int x = w.Buffer("x", MemLevel::kGlobal, {kRows, kColumns}),
            y = w.Buffer("y", MemLevel::kGlobal, {kRows, kColumns});
  const Expr t = w.Open("t", kRows / 4, LoopKind::kTask);
  const int p =
      w.Buffer("p", MemLevel::kScratch, {4, kColumns}, {t * I(4), I(0)});
  const auto stage = [&](int from, int to, const std::string& name,
                         std::vector<Expr> (*where)(const Expr& row)) {
    const bool apart = to == p;
    const Expr r0 = apart ? w.Open(name + "r0", 2) : I(0),
               c0 = w.Open(name + "c0", 3),
               r1 = w.Open(name + "r1", apart ? 2 : 4, LoopKind::kTile),
               c1 = w.Open(name + "c1", 8, LoopKind::kTile);
    const Expr row = t * I(4) + r0 * I(2) + r1, column = c0 * I(8) + c1;
    std::vector<Expr> predicates = where(row);
    predicates.push_back(Lt(column, I(kColumns)));
    Block block = Relu(from, to, kRows, kColumns, {row, column}, predicates);
    block.name = name;
    if (from < 0) block.body = {Expr::Float(0)};
    w.Add(block);
    w.Close(apart ? 4 : 3);
  };
  stage(x, p, "copied",
        [](const Expr& row) { return std::vector{Ge(row, I(kZeroRows))}; });
  stage(-1, p, "zeros",
        [](const Expr& row) { return std::vector{Lt(row, I(kZeroRows))}; });
  stage(p, y, "y", [](const Expr&) { return std::vector<Expr>(); });
  return w.Finish();
}

TEST(LowerTest, BordersOfOneStageLeaveRoomForOthers) {
  for (int limit = 12; limit <= 60; ++limit) {
    TW_ASSERT_OK_AND_ASSIGN(Kernel kernel,
                            BuildTileKernel(BorderedStages(), "k"));
    SimplifyTileKernel(kernel);
    PartitionTails(kernel, limit);
    SimplifyTileKernel(kernel);
    ForEachOp(kernel.body, [&](const kernel_ir::TileOp& op) {
      if (kernel.buffers[op.dst[0]].name == "y") {
        EXPECT_FALSE(static_cast<bool>(op.predicate)) << limit << ":\n"
                                                      << kernel.ToString();
      }
    });
    std::vector<std::string> args = {Bytes(Values(kRows * kColumns, 1)),
                                     std::string(kRows * kColumns * 4, '\xff')};
    TW_ASSERT_OK(kernel_ir::VerifyTileKernel(kernel)) << kernel.ToString();
    TW_ASSERT_OK(InterpretTileKernel(kernel, absl::MakeSpan(args)))
        << kernel.ToString();
    std::vector<float> want = Values(kRows * kColumns, 1);
    for (int64_t i = 0; i < kRows * kColumns; ++i)
      want[i] = i < kZeroRows * kColumns ? 0 : std::max(want[i], 0.0f);
    EXPECT_EQ(args[1], Bytes(want)) << kernel.ToString();
  }
}

// Columns of which the last tile is narrow, and taps of which it reads fewer.
TEST(LowerTest, TapsAreCutAtTheEndOfANarrowTile) {
  constexpr int64_t kTile = 10, kWidth = 2 * kTile + 6, kTaps = 3;
  TreeWriter w;
  const int a = w.Buffer("a", MemLevel::kGlobal, {1, kTaps}),
            b = w.Buffer("b", MemLevel::kGlobal, {kTaps, kWidth}),
            y = w.Buffer("y", MemLevel::kGlobal, {1, kWidth});
  const Expr n0 = w.Open("n0", 3), k = w.Open("k", kTaps),
             n1 = w.Open("n1", kTile, LoopKind::kTile);
  const Expr n = n0 * I(kTile) + n1;
  w.Add(Product(a, b, y, 1, kWidth, kTaps, {I(0), n, k},
                {Lt(n, I(kWidth)), Lt(n + k, I(kWidth + 1))}));
  TW_ASSERT_OK_AND_ASSIGN(Kernel kernel, BuildTileKernel(w.Finish(), "k"));
  const auto result = [&] {
    std::vector<std::string> args = {Bytes(Values(kTaps, 1)),
                                     Bytes(Values(kTaps * kWidth, 2)),
                                     std::string(kWidth * 4, '\xff')};
    TW_EXPECT_OK(InterpretTileKernel(kernel, absl::MakeSpan(args)));
    return args[2];
  };
  const std::string want = result();
  SimplifyTileKernel(kernel);
  PartitionTails(kernel);
  SimplifyTileKernel(kernel);
  EXPECT_EQ(CountPredicates(kernel), 0) << kernel.ToString();
  EXPECT_EQ(result(), want) << kernel.ToString();
}

// Init stands before the outermost reduce loop, over the spatial loops inside
// it.
TEST(LowerTest, InitHasANestOfItsOwn) {
  TreeWriter w;
  const int a = w.Buffer("a", MemLevel::kGlobal, {kM, kK}),
            b = w.Buffer("b", MemLevel::kGlobal, {kK, kN});
  const int y = w.Buffer("y", MemLevel::kGlobal, {kM, kN});
  const Expr m = w.Open("m", kM), k0 = w.Open("k0", 2), n0 = w.Open("n0", 3),
             k1 = w.Open("k1", 4), n1 = w.Open("n1", 6, LoopKind::kTile);
  const Expr n = n0 * I(6) + n1, k = k0 * I(4) + k1;
  w.Add(Product(a, b, y, kM, kN, kK, {m, n, k}, {Lt(n, I(kN)), Lt(k, I(kK))}));
  TW_ASSERT_OK_AND_ASSIGN(Kernel built, BuildTileKernel(w.Finish(), "k"));
  ExpectProduct(built, /*relu=*/false);
  ASSERT_EQ(built.body.size(), 1u);
  const auto& in_m = std::get<kernel_ir::For>(built.body[0].node).body;
  ASSERT_EQ(in_m.size(), 2u);
  const auto& init_nest = std::get<kernel_ir::For>(in_m[0].node);
  EXPECT_EQ(init_nest.extent, 3);
  const auto& init = std::get<kernel_ir::TileOp>(init_nest.body[0].node);
  EXPECT_EQ(init.phase, kernel_ir::TileOp::Phase::kInit);
  EXPECT_EQ(init.box.size(), 1u);
  SimplifyTileKernel(built);
  PartitionTails(built);
  SimplifyTileKernel(built);
  ExpectProduct(built, /*relu=*/false);
  EXPECT_EQ(CountPredicates(built), 0) << built.ToString();
}

TEST(LowerTest, ReductionsWithoutALoopAreInitialisedToo) {
  TreeWriter w;
  const int a = w.Buffer("a", MemLevel::kGlobal, {4, 1}),
            b = w.Buffer("b", MemLevel::kGlobal, {1, 3}),
            y = w.Buffer("y", MemLevel::kGlobal, {4, 3});
  const Expr m = w.Open("m", 4, LoopKind::kTile),
             n = w.Open("n", 3, LoopKind::kTile);
  w.Add(Product(a, b, y, 4, 3, 1, {m, n, I(0)}, {}));
  TW_ASSERT_OK_AND_ASSIGN(Kernel kernel, Lower(w.Finish(), "k"));
  std::vector<std::string> args = {Bytes({1, 2, 3, 4}), Bytes({5, 6, 7}),
                                   std::string(48, '\xff')};
  TW_ASSERT_OK(InterpretTileKernel(kernel, absl::MakeSpan(args)));
  EXPECT_EQ(args[2], Bytes({5, 6, 7, 10, 12, 14, 15, 18, 21, 20, 24, 28}));
}

// Fused loops carry spatial and reduce axes at once: the init runs over the
// same loop.
TEST(LowerTest, FusedSpatialAndReduceLoops) {
  TreeWriter w;
  const int a = w.Buffer("a", MemLevel::kGlobal, {kM, kK}),
            b = w.Buffer("b", MemLevel::kGlobal, {kK, kN});
  const int y = w.Buffer("y", MemLevel::kGlobal, {kM, kN});
  const Expr f0 = w.Open("f0", 12), f1 = w.Open("f1", 8), n = w.Open("n", kN);
  const Expr f = f0 * I(8) + f1;
  w.Add(Product(a, b, y, kM, kN, kK,
                {FloorDiv(f, I(kK)), n, FloorMod(f, I(kK))},
                {Lt(f, I(kM * kK))}));
  TW_ASSERT_OK_AND_ASSIGN(Kernel kernel, Lower(w.Finish(), "k"));
  ExpectProduct(kernel, /*relu=*/false);
  EXPECT_EQ(CountPredicates(kernel), 0) << kernel.ToString();
}

// y[i] = x[i - 1] + x[i + 1] with zeros outside, in tiles of 4; a scratch copy
// of the clipped region is made first.
TEST(LowerTest, ClippedRegionsShrinkFromBothEnds) {
  constexpr int64_t kSize = 10;
  TreeWriter w;
  const int x = w.Buffer("x", MemLevel::kGlobal, {kSize}),
            y = w.Buffer("y", MemLevel::kGlobal, {kSize});
  const Expr t = w.Open("t", 3, LoopKind::kTask);
  const int s = w.Buffer("s", MemLevel::kScratch, {6}, {t * I(4) - I(1)});
  const Expr i = w.Open("i", 6, LoopKind::kTile);
  Block copy;
  copy.name = "S";
  copy.axes = {{"i", kSize}};
  copy.body = {Expr::Load(x, DType::kFloat32, {Axis0()})};
  copy.bindings = {t * I(4) - I(1) + i};
  copy.predicates = {Ge(copy.bindings[0], I(0)),
                     Lt(copy.bindings[0], I(kSize))};
  copy.dst = {s};
  copy.dst_index = {Axis0()};
  w.Add(copy);
  w.Close();
  const Expr j = w.Open("j", 4, LoopKind::kTile);
  auto guarded = [&](Expr at) {
    const Expr inside = Expr::Make(Op::kAnd, {Ge(at, I(0)), Lt(at, I(kSize))});
    return Expr::Make(
        Op::kSelect,
        {inside, Expr::Load(s, DType::kFloat32, {at}), Expr::Float(0)});
  };
  Block sum;
  sum.name = "Y";
  sum.axes = {{"i", kSize}};
  sum.body = {
      Expr::Make(Op::kAdd, {guarded(Axis0() - I(1)), guarded(Axis0() + I(1))})};
  sum.bindings = {t * I(4) + j};
  sum.predicates = {Lt(sum.bindings[0], I(kSize))};
  sum.dst = {y};
  sum.dst_index = {Axis0()};
  w.Add(sum);
  TW_ASSERT_OK_AND_ASSIGN(Kernel kernel, Lower(w.Finish(), "k"));
  std::vector<std::string> args = {Bytes({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
                                   std::string(40, '\xff')};
  TW_ASSERT_OK(InterpretTileKernel(kernel, absl::MakeSpan(args)))
      << kernel.ToString();
  EXPECT_EQ(args[1], Bytes({2, 4, 6, 8, 10, 12, 14, 16, 18, 9}));
  EXPECT_EQ(CountPredicates(kernel), 0) << kernel.ToString();
}

// y[h, w] = sum over a 3 x 3 window of x, padded by 1: guards that rows decide
// are gone in the interior, in one copy.
TEST(LowerTest, InteriorRowsHaveNoGuards) {
  constexpr int64_t kH = 6, kW = 5;
  TreeWriter tree;
  const int x = tree.Buffer("x", MemLevel::kGlobal, {kH, kW}),
            y = tree.Buffer("y", MemLevel::kGlobal, {kH, kW});
  const Expr h = tree.Open("h", kH, LoopKind::kTask), r = tree.Open("r", 3),
             s = tree.Open("s", 3), w = tree.Open("w", kW, LoopKind::kTile);
  const Expr row = Expr::Var(0, "h") + Expr::Var(2, "r") - I(1),
             column = Expr::Var(1, "w") + Expr::Var(3, "s") - I(1);
  auto both = [](Expr a, Expr b) {
    return Expr::Make(Op::kAnd, {std::move(a), std::move(b)});
  };
  const Expr inside = both(both(Ge(row, I(0)), Lt(row, I(kH))),
                           both(Ge(column, I(0)), Lt(column, I(kW))));
  Block block;
  block.name = "Y";
  block.axes = {{"h", kH}, {"w", kW}};
  block.reduce_axes = {{"r", 3}, {"s", 3}};
  block.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
  block.body = {Expr::Make(
      Op::kSelect,
      {inside, Expr::Load(x, DType::kFloat32, {row, column}), Expr::Float(0)})};
  block.bindings = {h, w, r, s};
  block.dst = {y};
  block.dst_index = {Axis0(), Axis1()};
  tree.Add(block);
  TW_ASSERT_OK_AND_ASSIGN(Kernel kernel, Lower(tree.Finish(), "k"));
  const std::string text = kernel.ToString();
  const size_t interior = text.find("if h.0 >= 1 && h.0 < 5:"),
               edge = text.find("else:");
  ASSERT_NE(interior, std::string::npos) << text;
  ASSERT_NE(edge, std::string::npos) << text;
  const std::regex guard("h.0 \\+ r\\.[0-9]+ (>=|<)");
  EXPECT_FALSE(std::regex_search(text.substr(interior, edge - interior), guard))
      << text;
  EXPECT_TRUE(std::regex_search(text.substr(edge), guard)) << text;

  std::vector<std::string> args = {Bytes(Values(kH * kW, 3)),
                                   std::string(kH * kW * 4, '\xff')};
  TW_ASSERT_OK(InterpretTileKernel(kernel, absl::MakeSpan(args))) << text;
  const std::vector<float> in = Values(kH * kW, 3);
  std::vector<float> want(kH * kW);
  for (int64_t i = 0; i < kH * kW * 9; ++i) {
    const int64_t at = i / 9, p = at / kW + i % 9 / 3 - 1,
                  q = at % kW + i % 3 - 1;
    if (p >= 0 && p < kH && q >= 0 && q < kW) want[at] += in[p * kW + q];
  }
  EXPECT_EQ(args[1], Bytes(want)) << text;
}

TEST(LowerTest, PredicatesThatNeverHoldTakeTheirStatementsAway) {
  TreeWriter w;
  const int a = w.Buffer("a", MemLevel::kGlobal, {kM, kK}),
            b = w.Buffer("b", MemLevel::kGlobal, {kK, kN});
  const int y = w.Buffer("y", MemLevel::kGlobal, {kM, kN});
  // 3 x 6 x 2 covers 36 rows of which 13 exist.
  const Expr m0 = w.Open("m0", 3), m1 = w.Open("m1", 6), m2 = w.Open("m2", 2),
             n = w.Open("n", kN, LoopKind::kTile);
  const Expr m = m0 * I(12) + m1 * I(2) + m2;
  Block block = Product(a, b, y, kM, kN, kK, {m, n, I(0)}, {Lt(m, I(kM))});
  block.reduce_axes = {{"k", 1}};
  w.Add(block);
  BlockTree tree = w.Finish();
  TW_ASSERT_OK_AND_ASSIGN(Kernel kernel, Lower(tree, "k"));
  EXPECT_EQ(CountPredicates(kernel), 0) << kernel.ToString();
  std::vector<std::string> args = {Bytes(Values(kM * kK, 1)),
                                   Bytes(Values(kK * kN, 2)),
                                   std::string(kM * kN * 4, '\xff')};
  TW_EXPECT_OK(InterpretTileKernel(kernel, absl::MakeSpan(args)))
      << kernel.ToString();
}

}  // namespace
}  // namespace tilewright::lowering
