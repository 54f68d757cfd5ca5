// Data movement through Legalize: transpositions, strides and interleaved
// elements become vectors and shuffles, and stay what they were.
#include <string>
#include <utility>
#include <vector>

#include "backends/lowering/testing/legalize_testing.h"
#include "backends/lowering/vectorize/legalize.h"
#include "base/random.h"
#include "gtest/gtest.h"

namespace tilewright::lowering {
namespace {

using namespace legalize_testing;  // NOLINT: the writer and its checks
using kernel_ir::LoadInst;
using kernel_ir::ShuffleInst;
using kernel_ir::StoreInst;

template <typename T>
int Count(const ScalarKernel& kernel) {
  return legalize_testing::Count<T>(kernel.body, "", kernel);
}

ScalarKernel ExpectNoGather(const Kernel& kernel) {
  LegalizeReport report;
  ScalarKernel scalar = ExpectSame(kernel, &report);
  EXPECT_EQ(report.gathers, 0) << kernel.ToString() << scalar.ToString();
  return scalar;
}

// y[m, n] = x[n, m].
Kernel Transposition(int64_t rows, int64_t columns, DType dtype) {
  Writer w;
  const int x = w.Buffer("x", Level::kGlobal, Role::kInput,
                         Layout::RowMajor({columns, rows}), dtype);
  const int y = w.Buffer("y", Level::kGlobal, Role::kOutput,
                         Layout::RowMajor({rows, columns}), dtype);
  Expr m = w.Var("m"), n = w.Var("n");
  w.kernel.body.push_back(Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(m, rows), Writer::Axis(n, columns)}, y,
      {m, n}, {w.Load(x, {n, m})}));
  return std::move(w.kernel);
}

TEST(LegalizeMoves, TransposesSixteenBySixteenInRegisters) {
  const ScalarKernel scalar =
      ExpectNoGather(Transposition(64, 48, DType::kFloat32));
  EXPECT_EQ(Count<LoadInst>(scalar), 16);
  EXPECT_EQ(Count<ShuffleInst>(scalar), 64);
  EXPECT_EQ(Count<StoreInst>(scalar), 16);
}

TEST(LegalizeMoves, TransposesEveryElementSizeAtEveryEdge) {
  for (DType dtype : {DType::kInt8, DType::kBool, DType::kUInt16,
                      DType::kFloat16, DType::kInt32, DType::kFloat64}) {
    for (const auto& [rows, columns] :
         {std::pair{34, 20}, {5, 18}, {50, 7}, {3, 50}}) {
      ExpectNoGather(Transposition(rows, columns, dtype));
    }
  }
}

// Bias along each axis, a residual of each orientation.
TEST(LegalizeMoves, ArithmeticAroundATransposition) {
  Writer w;
  const int x = w.Input("x", {34, 40}), y = w.Output("y", {40, 34}),
            bias = w.Input("bias", {40}), scale = w.Input("scale", {34}),
            straight = w.Input("straight", {40, 34}),
            crossed = w.Input("crossed", {34, 40});
  Expr m = w.Var("m"), n = w.Var("n");
  w.kernel.body.push_back(Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(m, 40), Writer::Axis(n, 34)}, y,
      {m, n},
      {Expr::Make(
          Op::kAdd,
          {Expr::Make(Op::kAdd, {Mul(w.Load(x, {n, m}), w.Load(scale, {n})),
                                 w.Load(bias, {m})}),
           Expr::Make(Op::kAdd,
                      {w.Load(straight, {m, n}), w.Load(crossed, {n, m})})})}));
  ExpectNoGather(w.kernel);
}

TEST(LegalizeMoves, BetweenPlainAndBlockedChannels) {
  for (const bool to_blocked : {true, false}) {
    for (const int64_t channels : {16, 24}) {
      Writer w;
      const std::vector<int64_t> shape = {channels, 50};
      const Layout plain = Layout::RowMajor(shape),
                   blocked = Layout::BlockedLast(shape, 0, 16);
      const int x = w.Buffer("x", Level::kGlobal, Role::kInput,
                             to_blocked ? plain : blocked);
      const int y = w.Buffer("y", Level::kGlobal, Role::kOutput,
                             to_blocked ? blocked : plain);
      Expr c = w.Var("c"), p = w.Var("p");
      w.kernel.body.push_back(Writer::Op(
          TileOp::Phase::kMap, {Writer::Axis(c, channels), Writer::Axis(p, 50)},
          y, {c, p}, {w.Load(x, {c, p})}));
      ExpectNoGather(w.kernel);
    }
  }
}

// Three channels, last and first: interleaved.
TEST(LegalizeMoves, ThreeChannelsLastAndFirst) {
  for (const bool to_last : {true, false}) {
    Writer w;
    const std::vector<int64_t> first = {3, 70}, last = {70, 3};
    const int x = w.Input("x", to_last ? first : last),
              y = w.Output("y", to_last ? last : first);
    Expr c = w.Var("c"), p = w.Var("p");
    if (to_last) {
      w.kernel.body.push_back(Writer::Op(
          TileOp::Phase::kMap, {Writer::Axis(p, 70), Writer::Axis(c, 3)}, y,
          {p, c}, {w.Load(x, {c, p})}));
    } else {
      w.kernel.body.push_back(Writer::Op(
          TileOp::Phase::kMap, {Writer::Axis(c, 3), Writer::Axis(p, 70)}, y,
          {c, p}, {w.Load(x, {p, c})}));
    }
    ExpectNoGather(w.kernel);
  }
}

// y[i] = x[i * stride + first].
TEST(LegalizeMoves, SlicesWithSteps) {
  for (const int64_t stride : {2, 3, 4, -1, -2}) {
    Writer w;
    const int64_t n = 37, length = n * (stride < 0 ? -stride : stride);
    const int x = w.Input("x", {length}), y = w.Output("y", {n});
    Expr i = w.Var("i");
    w.kernel.body.push_back(Writer::Op(
        TileOp::Phase::kMap, {Writer::Axis(i, n)}, y, {i},
        {w.Load(x, {i * I(stride) + I(stride < 0 ? length - 1 : 0)})}));
    const ScalarKernel scalar = ExpectNoGather(w.kernel);
    EXPECT_EQ(scalar.ToString().find("insert"), std::string::npos);
  }
}

// y[c, 2h + i, 2w + j] = x[4c + 2i + j, h, w], both ways, axes whole.
TEST(LegalizeMoves, PixelShuffleAndBack) {
  for (const bool up : {true, false}) {
    Writer w;
    const int64_t channels = 3, height = 5, width = 19;
    const std::vector<int64_t> deep = {4 * channels, height, width},
                               wide = {channels, 2 * height, 2 * width};
    const int x = w.Input("x", up ? deep : wide),
              y = w.Output("y", up ? wide : deep);
    Expr c = w.Var("c"), h = w.Var("h"), v = w.Var("v");
    const std::vector<int64_t>& shape = up ? wide : deep;
    const std::vector<Expr> index =
        up ? std::vector<Expr>{c * I(4) + FloorMod(h, I(2)) * I(2) +
                                   FloorMod(v, I(2)),
                               FloorDiv(h, I(2)), FloorDiv(v, I(2))}
           : std::vector<Expr>{FloorDiv(c, I(4)),
                               h * I(2) + FloorMod(FloorDiv(c, I(2)), I(2)),
                               v * I(2) + FloorMod(c, I(2))};
    w.kernel.body.push_back(
        Writer::Op(TileOp::Phase::kMap,
                   {Writer::Axis(c, shape[0]), Writer::Axis(h, shape[1]),
                    Writer::Axis(v, shape[2])},
                   y, {c, h, v}, {w.Load(x, index)}));
    ExpectNoGather(w.kernel);
  }
}

TEST(LegalizeMoves, NearestUpsampling) {
  Writer w;
  const int x = w.Input("x", {4, 21}), y = w.Output("y", {8, 42});
  Expr h = w.Var("h"), v = w.Var("v");
  w.kernel.body.push_back(Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(h, 8), Writer::Axis(v, 42)}, y, {h, v},
      {w.Load(x, {FloorDiv(h, I(2)), FloorDiv(v, I(2))})}));
  ExpectNoGather(w.kernel);
}

// Max-pooling of 3 by stride 2 with a pad of 1: guarded loads with a stride.
TEST(LegalizeMoves, PaddedPoolingWithAStride) {
  Writer w;
  const int64_t n = 40;
  const int x = w.Input("x", {n}), y = w.Output("y", {n / 2});
  Expr k = w.Var("k"), i = w.Var("i"), j = w.Var("j");
  const Combiner max(Combiner::Kind::kMax, DType::kFloat32);
  const Expr at = i * I(2) + k - I(1);
  w.kernel.body.push_back(Writer::Op(
      TileOp::Phase::kInit, {Writer::Axis(j, n / 2)}, y, {j}, {}, Expr(), max));
  w.kernel.body.push_back(Writer::Loop(
      k, 3,
      {Writer::Op(TileOp::Phase::kUpdate, {Writer::Axis(i, n / 2)}, y, {i},
                  {Select(And(Ge(at, I(0)), Lt(at, I(n))), w.Load(x, {at}),
                          Expr::Float(-100))},
                  Expr(), max)}));
  ExpectNoGather(w.kernel);
}

// Rows of the block that come from different buffers.
TEST(LegalizeMoves, ConcatenationAlongTheRowsOfATransposition) {
  Writer w;
  const int a = w.Input("a", {40, 5}), b = w.Input("b", {40, 11}),
            y = w.Output("y", {16, 40});
  Expr m = w.Var("m"), n = w.Var("n");
  w.kernel.body.push_back(Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(m, 16), Writer::Axis(n, 40)}, y,
      {m, n},
      {Select(Lt(m, I(5)), w.Load(a, {n, m}), w.Load(b, {n, m - I(5)}))}));
  ExpectSame(w.kernel);
}

// A product held in registers along n is stored along m.
TEST(LegalizeMoves, RegistersAreStoredTransposed) {
  for (const int64_t rows : {4, 6, 8, 16}) {
    Writer w;
    const int a = w.Input("a", {rows, 20}), b = w.Input("b", {20, 32}),
              y = w.Output("y", {32, rows}),
              acc = w.Registers("acc", {rows, 32});
    Expr k = w.Var("k"), m0 = w.Var("m0"), n0 = w.Var("n0"), m = w.Var("m"),
         n = w.Var("n"), m1 = w.Var("m1"), n1 = w.Var("n1");
    w.kernel.body.push_back(Writer::Op(
        TileOp::Phase::kInit, {Writer::Axis(m0, rows), Writer::Axis(n0, 32)},
        acc, {m0, n0}, {}));
    w.kernel.body.push_back(Writer::Loop(
        k, 20,
        {Writer::Op(TileOp::Phase::kUpdate,
                    {Writer::Axis(m, rows), Writer::Axis(n, 32)}, acc, {m, n},
                    {Mul(w.Load(a, {m, k}), w.Load(b, {k, n}))})}));
    w.kernel.body.push_back(Writer::Op(
        TileOp::Phase::kMap, {Writer::Axis(n1, 32), Writer::Axis(m1, rows)}, y,
        {n1, m1}, {w.Load(acc, {m1, n1})}));
    LegalizeReport report;
    const ScalarKernel scalar = ExpectSame(w.kernel, &report);
    EXPECT_TRUE(report.demoted.empty()) << scalar.ToString();
    EXPECT_EQ(scalar.ToString().find(" lane "), std::string::npos)
        << scalar.ToString();
  }
}

// Axes permuted, reversed and with steps; arithmetic of operands that lie
// otherwise; guards, predicates, loops and tasks, all drawn by seed.
class RandomMove {
 public:
  explicit RandomMove(uint64_t seed) : random_(seed) {}

  Kernel Draw() {
    static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 19, 33};
    static const DType dtypes[] = {DType::kFloat32, DType::kFloat32,
                                   DType::kInt8,    DType::kFloat16,
                                   DType::kFloat64, DType::kInt32};
    dtype_ = dtypes[random_.Index(6)];
    const int rank = static_cast<int>(random_.UniformInt(1, 3));
    for (int d = 0; d < rank; ++d) {
      shape_.push_back(extents[random_.Index(11)]);
      axes_.push_back(w_.Var("a"));
    }
    Expr body = Operand();
    while (random_.Bernoulli(0.4))
      body = Expr::Make(Op::kAdd, {std::move(body), Operand()});
    const int y = w_.Buffer("y", Level::kGlobal, Role::kOutput,
                            DrawLayout(shape_), dtype_);
    Expr predicate;
    if (random_.Bernoulli(0.15)) {
      const size_t axis = random_.Index(axes_.size());
      predicate = Lt(axes_[axis], I(random_.UniformInt(1, shape_[axis])));
    }
    std::vector<TileAxis> box;
    std::vector<size_t> looped;
    for (size_t d = 0; d < axes_.size(); ++d) {
      if (random_.Bernoulli(0.2)) {
        looped.push_back(d);
      } else {
        box.push_back(Writer::Axis(axes_[d], shape_[d]));
      }
    }
    random_.Shuffle(absl::MakeSpan(box));
    Stmt stmt = Writer::Op(TileOp::Phase::kMap, std::move(box), y, axes_,
                           {std::move(body)}, std::move(predicate));
    const bool tasks = random_.Bernoulli(0.5);
    for (size_t d : looped)
      stmt = Writer::Loop(axes_[d], shape_[d], {std::move(stmt)},
                          tasks ? For::Kind::kTask : For::Kind::kSerial);
    w_.kernel.body.push_back(std::move(stmt));
    return std::move(w_.kernel);
  }

 private:
  Layout DrawLayout(const std::vector<int64_t>& shape) {
    if (random_.Bernoulli(0.7)) return Layout::RowMajor(shape);
    return Layout::BlockedLast(shape,
                               static_cast<int>(random_.Index(shape.size())),
                               int64_t{1} << random_.UniformInt(2, 4));
  }

  Expr Operand() {
    std::vector<size_t> order;
    for (size_t d = 0; d < axes_.size(); ++d) {
      if (order.empty() || random_.Bernoulli(0.9)) order.push_back(d);
    }
    random_.Shuffle(absl::MakeSpan(order));
    std::vector<int64_t> shape;
    std::vector<Expr> index;
    Expr guard;
    for (size_t d : order) {
      const int64_t extent = shape_[d];
      const int64_t kind = random_.UniformInt(0, 9);
      Expr at = axes_[d];
      int64_t length = extent;
      if (kind == 0) {
        const int64_t step = random_.UniformInt(2, 5);
        at = at * I(step) + I(random_.UniformInt(0, step - 1));
        length = extent * step;
      } else if (kind == 1) {
        at = I(extent - 1) - at;
      } else if (kind == 2) {
        const int64_t factor = random_.UniformInt(2, 3);
        at = FloorDiv(at, I(factor));
        length = (extent + factor - 1) / factor;
      } else if (kind == 3 && !guard) {
        const int64_t before = random_.UniformInt(0, 2);
        at = at - I(before);
        length = std::max<int64_t>(1, extent - before - 1);
        guard = And(Ge(at, I(0)), Lt(at, I(length)));
      }
      index.push_back(std::move(at));
      shape.push_back(length);
    }
    const int buffer =
        w_.Buffer("x", Level::kGlobal, Role::kInput, DrawLayout(shape), dtype_);
    Expr load = w_.Load(buffer, std::move(index));
    if (!guard) return load;
    return Select(
        std::move(guard), std::move(load),
        IsFloat(dtype_) ? Expr::Float(7, dtype_) : Expr::Int(7, dtype_));
  }

  Random random_;
  Writer w_;
  DType dtype_ = DType::kFloat32;
  std::vector<int64_t> shape_;
  std::vector<Expr> axes_;
};

// A transposition with a border of ones above and below.
TEST(LegalizeMoves, CutsTransposedPaddingAtItsBorders) {
  Writer w;
  const int x = w.Buffer("x", Level::kGlobal, Role::kInput,
                         Layout::RowMajor({32, 16}), DType::kFloat32);
  const int y = w.Buffer("y", Level::kGlobal, Role::kOutput,
                         Layout::RowMajor({18, 32}), DType::kFloat32);
  Expr m = w.Var("m"), n = w.Var("n");
  w.kernel.body.push_back(Writer::Op(
      TileOp::Phase::kMap, {Writer::Axis(m, 18), Writer::Axis(n, 32)}, y,
      {m, n},
      {Select(And(Ge(m, I(1)), Lt(m, I(17))), w.Load(x, {n, m - I(1)}),
              Expr::Float(1, DType::kFloat32))}));
  const ScalarKernel scalar = ExpectNoGather(w.kernel);
  EXPECT_EQ(Count<LoadInst>(scalar), 16);
  EXPECT_EQ(Count<ShuffleInst>(scalar), 64);
}

// Parts of 20 and 28 channels, one with its channels side by side and one with
// its pixels, become rows: the second block of sixteen has channels of both.
TEST(LegalizeMoves, TellsPartsOfAConcatenationApart) {
  Writer w;
  const int a = w.Buffer("a", Level::kGlobal, Role::kInput,
                         Layout::RowMajor({16, 20}), DType::kFloat32);
  const int b = w.Buffer("b", Level::kGlobal, Role::kInput,
                         Layout::RowMajor({28, 16}), DType::kFloat32);
  const int y = w.Buffer("y", Level::kGlobal, Role::kOutput,
                         Layout::RowMajor({48, 16}), DType::kFloat32);
  Expr block = w.Var("block"), c = w.Var("c"), p = w.Var("p");
  const Expr channel = block * I(16) + c;
  w.kernel.body.push_back(w.Loop(
      block, 3,
      {Writer::Op(TileOp::Phase::kMap,
                  {Writer::Axis(c, 16), Writer::Axis(p, 16)}, y, {channel, p},
                  {Select(Lt(channel, I(20)), w.Load(a, {p, channel}),
                          w.Load(b, {channel - I(20), p}))})}));
  ExpectNoGather(w.kernel);
}

TEST(LegalizeMoves, AnyMove) {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE(seed);
    ExpectSame(RandomMove(seed).Draw());
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tilewright::lowering
