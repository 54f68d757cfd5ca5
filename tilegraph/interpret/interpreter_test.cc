#include "tilegraph/interpret/interpreter.h"

#include <cmath>
#include <limits>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

Expr V(int id) { return Expr::Var(id, "v" + std::to_string(id)); }
Expr F(double value) { return Expr::Float(value); }
Expr Op2(Op op, const Expr& a, const Expr& b) { return Expr::Make(op, {a, b}); }
Expr Select(const Expr& c, const Expr& a, const Expr& b) {
  return Expr::Make(Op::kSelect, {c, a, b});
}

std::vector<Axis> Axes(std::vector<int64_t> extents, std::string prefix = "a") {
  std::vector<Axis> axes;
  for (size_t i = 0; i < extents.size(); ++i)
    axes.push_back({prefix + std::to_string(i), extents[i]});
  return axes;
}

Compute Map(std::vector<int64_t> extents, Expr body) {
  return Compute{Axes(extents), {}, std::nullopt, {body}};
}
Compute Reduce(std::vector<int64_t> extents, std::vector<int64_t> reduce,
               Combiner combiner, std::vector<Expr> body, int result = 0) {
  return Compute{Axes(extents), Axes(reduce, "r"), combiner, std::move(body),
                 result};
}
Combiner SumF32() { return Combiner(Combiner::Kind::kSum, DType::kFloat32); }

HostTensor Floats(std::vector<int64_t> shape, std::vector<float> values) {
  HostTensor tensor(DType::kFloat32, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.as<float>()[i] = values[i];
  return tensor;
}

HostTensor RandomFloats(std::vector<int64_t> shape, uint64_t seed) {
  HostTensor tensor(DType::kFloat32, std::move(shape));
  Random random(seed);
  for (float& value : tensor.as<float>())
    value = static_cast<float>(random.Normal());
  return tensor;
}

std::unique_ptr<Interpreter> MustCreate(const TensorGraph& graph,
                                        std::map<TensorId, HostTensor> inputs,
                                        Interpreter::Options options = {}) {
  auto interpreter = Interpreter::Create(graph, std::move(inputs), options);
  EXPECT_THAT(interpreter, IsOk());
  return *std::move(interpreter);
}

double FloatAt(Interpreter& interpreter, TensorId tensor,
               std::vector<int64_t> index) {
  auto value = interpreter.At(tensor, index);
  EXPECT_THAT(value, IsOk());
  return value.ok() ? value->f : std::nan("");
}

int64_t IntAt(Interpreter& interpreter, TensorId tensor,
              std::vector<int64_t> index) {
  auto value = interpreter.At(tensor, index);
  EXPECT_THAT(value, IsOk());
  return value.ok() ? value->i : -12345;
}

TEST(InterpreterTest, MatmulWithBiasAndReluEqualsLoopsInDouble) {
  constexpr int64_t kM = 7, kN = 5, kK = 33;
  TensorGraph graph;
  const TensorId a = graph.AddPlaceholder("A", DType::kFloat32, {kM, kK});
  const TensorId b = graph.AddPlaceholder("B", DType::kFloat32, {kK, kN});
  const TensorId bias = graph.AddPlaceholder("b", DType::kFloat32, {kN});
  const TensorId t =
      graph.AddCompute("T", DType::kFloat32,
                       Reduce({kM, kN}, {kK}, SumF32(),
                              {Op2(Op::kMul, graph.Load(a, {V(0), V(2)}),
                                   graph.Load(b, {V(2), V(1)}))}));
  const TensorId y = graph.AddCompute(
      "Y", DType::kFloat32,
      Map({kM, kN}, Op2(Op::kMax,
                        Op2(Op::kAdd, graph.Load(t, {V(0), V(1)}),
                            graph.Load(bias, {V(1)})),
                        F(0))));
  const HostTensor av = RandomFloats({kM, kK}, 1),
                   bv = RandomFloats({kK, kN}, 2),
                   biasv = RandomFloats({kN}, 3);
  auto interpreter = MustCreate(graph, {{a, av}, {b, bv}, {bias, biasv}});
  for (int64_t m = 0; m < kM; ++m) {
    for (int64_t n = 0; n < kN; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < kK; ++k) {
        sum += static_cast<double>(av.as<float>()[m * kK + k]) *
               bv.as<float>()[k * kN + n];
      }
      EXPECT_EQ(FloatAt(*interpreter, t, {m, n}), sum);
      EXPECT_EQ(FloatAt(*interpreter, y, {m, n}),
                std::max(sum + biasv.as<float>()[n], 0.0));
    }
  }
  TW_ASSERT_OK_AND_ASSIGN(const HostTensor whole, interpreter->Evaluate(y));
  // Every element once, however often it was asked for.
  EXPECT_EQ(interpreter->steps(), kM * kN * (kK + 1));
  EXPECT_EQ(whole.shape(), (std::vector<int64_t>{kM, kN}));
  EXPECT_EQ(whole.as<float>()[kN + 2],
            static_cast<float>(FloatAt(*interpreter, y, {1, 2})));
}

// in[n, c, h·stride + kh·dilation - pad, ...], zero or `outside` beyond the
// image.
Expr Padded(const TensorGraph& graph, TensorId x, Expr n, Expr c, Expr h,
            Expr w, int64_t height, int64_t width, double outside) {
  const Expr zero = Expr::Int(0);
  const auto inside = [&](const Expr& i, int64_t extent) {
    return Op2(Op::kAnd, Op2(Op::kGe, i, zero),
               Op2(Op::kLt, i, Expr::Int(extent)));
  };
  return Select(Op2(Op::kAnd, inside(h, height), inside(w, width)),
                graph.Load(x, {n, c, h, w}), F(outside));
}

TEST(InterpreterTest, ConvWithPaddingStrideAndDilationEqualsLoops) {
  constexpr int64_t kN = 2, kC = 3, kH = 8, kW = 7, kO = 4, kK = 3, kStride = 2,
                    kPad = 2, kDilation = 2;
  constexpr int64_t kOh =
      (kH + 2 * kPad - kDilation * (kK - 1) - 1) / kStride + 1;
  constexpr int64_t kOw =
      (kW + 2 * kPad - kDilation * (kK - 1) - 1) / kStride + 1;
  TensorGraph graph;
  const TensorId x =
      graph.AddPlaceholder("x", DType::kFloat32, {kN, kC, kH, kW});
  const HostTensor wv = RandomFloats({kO, kC, kK, kK}, 4);
  const TensorId w = graph.AddConstant("w", std::make_shared<HostTensor>(wv));
  const Expr h =
      V(2) * Expr::Int(kStride) + V(5) * Expr::Int(kDilation) - Expr::Int(kPad);
  const Expr col =
      V(3) * Expr::Int(kStride) + V(6) * Expr::Int(kDilation) - Expr::Int(kPad);
  const TensorId y = graph.AddCompute(
      "y", DType::kFloat32,
      Reduce({kN, kO, kOh, kOw}, {kC, kK, kK}, SumF32(),
             {Op2(Op::kMul, Padded(graph, x, V(0), V(4), h, col, kH, kW, 0),
                  graph.Load(w, {V(1), V(4), V(5), V(6)}))}));
  const HostTensor xv = RandomFloats({kN, kC, kH, kW}, 5);
  auto interpreter = MustCreate(graph, {{x, xv}});
  for (int64_t n = 0; n < kN; ++n) {
    for (int64_t o = 0; o < kO; ++o) {
      for (int64_t oh = 0; oh < kOh; ++oh) {
        for (int64_t ow = 0; ow < kOw; ++ow) {
          double sum = 0;
          for (int64_t c = 0; c < kC; ++c) {
            for (int64_t kh = 0; kh < kK; ++kh) {
              for (int64_t kw = 0; kw < kK; ++kw) {
                const int64_t ih = oh * kStride + kh * kDilation - kPad,
                              iw = ow * kStride + kw * kDilation - kPad;
                if (ih < 0 || ih >= kH || iw < 0 || iw >= kW) continue;
                sum += static_cast<double>(
                           xv.as<float>()[((n * kC + c) * kH + ih) * kW + iw]) *
                       wv.as<float>()[((o * kC + c) * kK + kh) * kK + kw];
              }
            }
          }
          EXPECT_EQ(FloatAt(*interpreter, y, {n, o, oh, ow}), sum);
        }
      }
    }
  }
}

TEST(InterpreterTest, MaxPoolPadsWithMinusInfinityAndKeepsNan) {
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {1, 1, 3, 3});
  const double inf = std::numeric_limits<double>::infinity();
  const TensorId y = graph.AddCompute(
      "y", DType::kFloat32,
      Reduce({1, 1, 3, 3}, {3, 3},
             Combiner(Combiner::Kind::kMax, DType::kFloat32),
             {Padded(graph, x, V(0), V(1), V(2) + V(4) - Expr::Int(1),
                     V(3) + V(5) - Expr::Int(1), 3, 3, -inf)}));
  const float nan = std::nanf("");
  auto interpreter = MustCreate(
      graph,
      {{x, Floats({1, 1, 3, 3}, {-9, -8, -7, -6, -5, -4, -3, -2, nan})}});
  TW_ASSERT_OK_AND_ASSIGN(const HostTensor value, interpreter->Evaluate(y));
  EXPECT_EQ(value.as<float>()[0], -5);
  EXPECT_EQ(value.as<float>()[2], -4);
  EXPECT_EQ(value.as<float>()[6], -2);
  EXPECT_TRUE(std::isnan(value.as<float>()[4]));
  EXPECT_TRUE(std::isnan(value.as<float>()[8]));
}

TEST(InterpreterTest, ArgMaxTakesTheFirstOfEqualsAndTheFirstNan) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {4, 5});
  const auto arg = [&](Combiner::Kind kind, int result) {
    return Reduce({4}, {5}, Combiner(kind, DType::kFloat32),
                  {graph.Load(x, {V(0), V(1)}), V(1)}, result);
  };
  const TensorId argmax = graph.AddCompute("argmax", DType::kInt64,
                                           arg(Combiner::Kind::kArgMax, 1));
  const TensorId argmin = graph.AddCompute("argmin", DType::kInt64,
                                           arg(Combiner::Kind::kArgMin, 1));
  const TensorId max =
      graph.AddCompute("max", DType::kFloat32, arg(Combiner::Kind::kArgMax, 0));
  auto interpreter =
      MustCreate(graph, {{x, Floats({4, 5}, {1,    3,    3,    2,    1,     //
                                             5,    nan,  9,    nan,  1,     //
                                             -inf, -inf, -inf, -inf, -inf,  //
                                             inf,  inf,  inf,  inf,  inf})}});
  const auto ints = [&](TensorId id) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < 4; ++i)
      values.push_back(IntAt(*interpreter, id, {i}));
    return values;
  };
  EXPECT_THAT(ints(argmax), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(ints(argmin), ElementsAre(0, 1, 0, 0));
  EXPECT_EQ(FloatAt(*interpreter, max, {0}), 3);
}

TEST(InterpreterTest, WelfordAndMaxSumExpEqualTwoPasses) {
  constexpr int64_t kSize = 100;
  const HostTensor value = RandomFloats({kSize}, 6);
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {kSize});
  const Expr load = graph.Load(x, {V(0)});
  const auto welford = [&](int result) {
    return Reduce({}, {kSize},
                  Combiner(Combiner::Kind::kWelford, DType::kFloat32),
                  {load, F(0), F(1)}, result);
  };
  const TensorId mean = graph.AddCompute("mean", DType::kFloat32, welford(0));
  const TensorId m2 = graph.AddCompute("m2", DType::kFloat32, welford(1));
  const TensorId count = graph.AddCompute("count", DType::kFloat32, welford(2));
  const TensorId sum_exp = graph.AddCompute(
      "sum_exp", DType::kFloat32,
      Reduce({}, {kSize}, Combiner(Combiner::Kind::kMaxSumExp, DType::kFloat32),
             {load, F(1)}, 1));
  double sum = 0, largest = -1e9;
  for (const float v : value.as<float>()) {
    sum += v;
    largest = std::max<double>(largest, v);
  }
  double squares = 0, exps = 0;
  for (const float v : value.as<float>()) {
    squares += (v - sum / kSize) * (v - sum / kSize);
    exps += std::exp(v - largest);
  }
  auto interpreter = MustCreate(graph, {{x, value}});
  EXPECT_NEAR(FloatAt(*interpreter, mean, {}), sum / kSize, 1e-14);
  EXPECT_NEAR(FloatAt(*interpreter, m2, {}), squares, 1e-11);
  EXPECT_EQ(FloatAt(*interpreter, count, {}), kSize);
  EXPECT_NEAR(FloatAt(*interpreter, sum_exp, {}), exps, 1e-12);
}

TEST(InterpreterTest, FloatTensorsStayInDoubleUnlessRounded) {
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {1});
  const TensorId h =
      graph.AddCompute("h", DType::kFloat16,
                       Map({1}, Op2(Op::kDiv, F(1), graph.Load(x, {V(0)}))));
  const TensorId y = graph.AddCompute(
      "y", DType::kFloat32,
      Map({1}, Expr::Cast(DType::kFloat32, graph.Load(h, {V(0)}))));
  auto exact = MustCreate(graph, {{x, Floats({1}, {3})}});
  EXPECT_EQ(FloatAt(*exact, y, {0}), 1.0 / 3);
  auto rounded =
      MustCreate(graph, {{x, Floats({1}, {3})}}, {/*round_floats=*/true});
  EXPECT_EQ(FloatAt(*rounded, h, {0}), 0x555p-12);  // 1/3 to 11 bits.
  EXPECT_EQ(FloatAt(*rounded, y, {0}), 0x555p-12);
  TW_ASSERT_OK_AND_ASSIGN(const HostTensor stored, exact->Evaluate(h));
  EXPECT_EQ(stored.as<uint16_t>()[0], 0x3555);
}

TEST(InterpreterTest, Int8SumsInInt32AndWrapsWhenStored) {
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kInt8, {4});
  const Expr body = Expr::Cast(DType::kInt32, graph.Load(x, {V(0)}));
  const Combiner sum(Combiner::Kind::kSum,
                     Combiner::DefaultAccumulator(DType::kInt8));
  const TensorId wide =
      graph.AddCompute("wide", DType::kInt32, Reduce({}, {4}, sum, {body}));
  const TensorId narrow =
      graph.AddCompute("narrow", DType::kInt8, Reduce({}, {4}, sum, {body}));
  HostTensor value(DType::kInt8, {4});
  for (int8_t& v : value.as<int8_t>()) v = 100;
  auto interpreter = MustCreate(graph, {{x, value}});
  EXPECT_EQ(IntAt(*interpreter, wide, {}), 400);
  EXPECT_EQ(IntAt(*interpreter, narrow, {}), static_cast<int8_t>(400));
}

TEST(InterpreterTest, Int32ProductsWrapAtEveryStep) {
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kInt32, {2});
  const TensorId y = graph.AddCompute(
      "y", DType::kInt64,
      Reduce({}, {2}, Combiner(Combiner::Kind::kProd, DType::kInt32),
             {graph.Load(x, {V(0)})}));
  HostTensor value(DType::kInt32, {2});
  value.as<int32_t>()[0] = 65536;
  value.as<int32_t>()[1] = 65537;
  auto interpreter = MustCreate(graph, {{x, value}});
  EXPECT_EQ(IntAt(*interpreter, y, {}), 65536);
}

TEST(InterpreterTest, GatherReadsWhereTheDataSays) {
  TensorGraph graph;
  const TensorId table = graph.AddPlaceholder("table", DType::kFloat32, {4});
  const TensorId index = graph.AddPlaceholder("index", DType::kInt32, {3});
  const TensorId y = graph.AddCompute(
      "y", DType::kFloat32,
      Map({3}, graph.Load(table, {Expr::Cast(DType::kInt64,
                                             graph.Load(index, {V(0)}))})));
  HostTensor where(DType::kInt32, {3});
  where.as<int32_t>()[0] = 3;
  where.as<int32_t>()[2] = 4;
  auto interpreter = MustCreate(
      graph, {{table, Floats({4}, {10, 11, 12, 13})}, {index, where}});
  EXPECT_EQ(FloatAt(*interpreter, y, {0}), 13);
  EXPECT_EQ(FloatAt(*interpreter, y, {1}), 10);
  EXPECT_THAT(
      interpreter->At(y, {2}),
      StatusIs(absl::StatusCode::kOutOfRange,
               "tensor 'y' loads 'table' at [4], outside its shape [4]"));
  EXPECT_THAT(interpreter->Evaluate(y),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(FloatAt(*interpreter, y, {1}), 10)
      << "an error leaves the rest usable";
}

TEST(InterpreterTest, OnlyTheBranchTakenOfASelectIsEvaluated) {
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {2});
  const Expr shifted = graph.Load(x, {V(0) - Expr::Int(1)});
  // The load is in both branches of the outer select: knowing it in one must
  // not leak into what follows.
  const Expr guarded = Select(Op2(Op::kGe, V(0), Expr::Int(1)), shifted, F(7));
  const TensorId y = graph.AddCompute(
      "y", DType::kFloat32,
      Map({3}, Op2(Op::kAdd, guarded,
                   Select(Op2(Op::kGe, V(0), Expr::Int(2)), shifted, F(100)))));
  auto interpreter = MustCreate(graph, {{x, Floats({2}, {1, 2})}});
  EXPECT_EQ(FloatAt(*interpreter, y, {0}), 107);
  EXPECT_EQ(FloatAt(*interpreter, y, {1}), 101);
  EXPECT_EQ(FloatAt(*interpreter, y, {2}), 4);
}

TEST(InterpreterTest, AChainOfTwentyThousandTensorsNeedsNoDeepStack) {
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {3});
  TensorId last = x;
  for (int i = 0; i < 20000; ++i) {
    last = graph.AddCompute(
        "t", DType::kFloat32,
        Map({3}, Op2(Op::kAdd, graph.Load(last, {Expr::Int(2) - V(0)}), F(1))));
  }
  auto interpreter = MustCreate(graph, {{x, Floats({3}, {1, 2, 3})}});
  EXPECT_EQ(FloatAt(*interpreter, last, {0}), 20001);
}

TEST(InterpreterTest, EveryElementIsComputedOnceSoDiamondsStayCheap) {
  TensorGraph graph;
  TensorId last = graph.AddPlaceholder("x", DType::kFloat64, {1});
  const TensorId x = last;
  for (int i = 0; i < 60; ++i) {  // 2^60 paths.
    const Expr load = graph.Load(last, {V(0)});
    last = graph.AddCompute("t", DType::kFloat64,
                            Map({1}, Op2(Op::kAdd, load, load)));
  }
  HostTensor one(DType::kFloat64, {1});
  one.as<double>()[0] = 1;
  auto interpreter = MustCreate(graph, {{x, one}});
  EXPECT_EQ(FloatAt(*interpreter, last, {0}), 0x1p60);
}

TEST(InterpreterTest, AFewElementsOfAHugeTensorCostNoMemoryForTheRest) {
  constexpr int64_t kSize = int64_t{1} << 32;
  TensorGraph graph;
  const TensorId big = graph.AddCompute(
      "big", DType::kFloat32, Map({kSize}, Expr::Cast(DType::kFloat32, V(0))));
  const TensorId y = graph.AddCompute(
      "y", DType::kFloat32,
      Map({1}, graph.Load(big, {V(0) + Expr::Int(kSize - 1)})));
  auto interpreter = MustCreate(graph, {});
  EXPECT_EQ(FloatAt(*interpreter, y, {0}), static_cast<double>(kSize - 1));
}

TEST(InterpreterTest,
     ReductionOverSeveralAxesOfAnIntermediateResumesWhereItStood) {
  TensorGraph graph;
  const TensorId x = graph.AddCompute("x", DType::kInt64,
                                      Map({5, 6}, V(0) * Expr::Int(10) + V(1)));
  const TensorId y = graph.AddCompute(
      "y", DType::kInt64,
      Reduce({2}, {5, 3}, Combiner(Combiner::Kind::kSum, DType::kInt64),
             {graph.Load(x, {V(1), V(0) * Expr::Int(3) + V(2)})}));
  auto interpreter = MustCreate(graph, {});
  int64_t sum = 0;
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 3; j < 6; ++j) sum += 10 * i + j;
  }
  EXPECT_EQ(IntAt(*interpreter, y, {1}), sum);
}

TEST(InterpreterTest, WrongInputsAreNamed) {
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {2, 3});
  const auto create = [&](std::map<TensorId, HostTensor> inputs) {
    return Interpreter::Create(graph, std::move(inputs), {}).status();
  };
  EXPECT_THAT(create({}), StatusIs(absl::StatusCode::kInvalidArgument,
                                   "input 'x' is not given"));
  EXPECT_THAT(create({{x, HostTensor(DType::kInt32, {2, 3})}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "input 'x' is f32[2, 3] but i32[2, 3] is given"));
  EXPECT_THAT(create({{x, HostTensor(DType::kFloat32, {2, 3})},
                      {7, HostTensor(DType::kFloat32, {1})}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "tensor 7, which is no placeholder"));
  auto interpreter =
      MustCreate(graph, {{x, HostTensor(DType::kFloat32, {2, 3})}});
  EXPECT_THAT(interpreter->At(x, {2, 0}),
              StatusIs(absl::StatusCode::kOutOfRange, "element [2, 0] of 'x'"));
  EXPECT_THAT(interpreter->At(9, {0}),
              StatusIs(absl::StatusCode::kInvalidArgument, "no tensor 9"));
}

// --- EvaluateOp: the table of op.h

constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min(),
                  kMax64 = std::numeric_limits<int64_t>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

int64_t EvalI(Op op, DType dtype, int64_t a, int64_t b = 0) {
  const Scalar operands[] = {{0, a}, {0, b}};
  return EvaluateOp(op, dtype, dtype, operands, false).i;
}
double EvalF(Op op, double a, double b = 0, DType dtype = DType::kFloat64,
             bool single = false) {
  const Scalar operands[] = {{a, 0}, {b, 0}};
  return EvaluateOp(op, dtype, dtype, operands, single).f;
}

TEST(EvaluateOpTest, IntegersWrapToTheirDtype) {
  EXPECT_EQ(EvalI(Op::kAdd, DType::kInt8, 127, 1), -128);
  EXPECT_EQ(EvalI(Op::kSub, DType::kUInt8, 0, 1), 255);
  EXPECT_EQ(EvalI(Op::kMul, DType::kInt32, 1 << 30, 2), kMin64 >> 32);
  EXPECT_EQ(EvalI(Op::kAdd, DType::kInt64, kMax64, 1), kMin64);
  EXPECT_EQ(EvalI(Op::kMul, DType::kInt64, kMax64, kMax64), 1);
  EXPECT_EQ(EvalI(Op::kNeg, DType::kInt64, kMin64), kMin64);
  EXPECT_EQ(EvalI(Op::kNeg, DType::kInt8, -128), -128);
  EXPECT_EQ(EvalI(Op::kAbs, DType::kInt8, -128), -128);
  EXPECT_EQ(EvalI(Op::kAbs, DType::kInt8, -5), 5);
  EXPECT_EQ(EvalI(Op::kNot, DType::kUInt8, 1), 254);
  EXPECT_EQ(EvalI(Op::kNot, DType::kBool, 1), 0);
  EXPECT_EQ(EvalI(Op::kNot, DType::kBool, 0), 1);
}

TEST(EvaluateOpTest, DivisionIsDefinedForEveryOperand) {
  for (const DType dtype :
       {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64}) {
    const int64_t min = kMin64 >> (64 - 8 * SizeBytes(dtype));
    for (const Op op : {Op::kDiv, Op::kFloorDiv}) {
      EXPECT_EQ(EvalI(op, dtype, 5, 0), 0);
      EXPECT_EQ(EvalI(op, dtype, min, -1), min);
      EXPECT_EQ(EvalI(op, dtype, min, 1), min);
    }
    EXPECT_EQ(EvalI(Op::kFloorMod, dtype, 5, 0), 0);
    EXPECT_EQ(EvalI(Op::kFloorMod, dtype, min, -1), 0);
  }
  // a, b: truncated, floored, modulo.
  const int64_t table[][5] = {{7, 2, 3, 3, 1},     {-7, 2, -3, -4, 1},
                              {7, -2, -3, -4, -1}, {-7, -2, 3, 3, -1},
                              {6, 3, 2, 2, 0},     {-6, 3, -2, -2, 0},
                              {0, -4, 0, 0, 0},    {1, 5, 0, 0, 1},
                              {-1, 5, 0, -1, 4},   {1, -5, 0, -1, -4}};
  for (const auto& row : table) {
    EXPECT_EQ(EvalI(Op::kDiv, DType::kInt32, row[0], row[1]), row[2])
        << row[0] << " / " << row[1];
    EXPECT_EQ(EvalI(Op::kFloorDiv, DType::kInt32, row[0], row[1]), row[3])
        << row[0] << " floordiv " << row[1];
    EXPECT_EQ(EvalI(Op::kFloorMod, DType::kInt32, row[0], row[1]), row[4])
        << row[0] << " mod " << row[1];
  }
}

TEST(EvaluateOpTest, Unsigned64IsComparedAndDividedAsUnsigned) {
  const Scalar big_small[] = {{0, -1}, {0, 2}};
  EXPECT_EQ(
      EvaluateOp(Op::kGt, DType::kBool, DType::kUInt64, big_small, false).i, 1);
  EXPECT_EQ(EvalI(Op::kDiv, DType::kUInt64, -1, 2), kMax64);
  EXPECT_EQ(EvalI(Op::kFloorDiv, DType::kUInt64, -1, -1), 1);
  EXPECT_EQ(EvalI(Op::kFloorMod, DType::kUInt64, -1, 10), 5);
  EXPECT_EQ(EvalI(Op::kMax, DType::kUInt64, -1, 2), -1);
  EXPECT_EQ(EvalI(Op::kMin, DType::kUInt64, -1, 2), 2);
  EXPECT_EQ(EvalI(Op::kAbs, DType::kUInt64, -1), -1);
  const Scalar all_ones{0, -1};
  EXPECT_EQ(EvaluateOp(Op::kCast, DType::kFloat64, DType::kUInt64,
                       {&all_ones, 1}, false)
                .f,
            0x1p64);
}

TEST(EvaluateOpTest, IntegerPowersWrapAndTruncate) {
  EXPECT_EQ(EvalI(Op::kPow, DType::kInt32, 3, 4), 81);
  EXPECT_EQ(EvalI(Op::kPow, DType::kInt32, -2, 3), -8);
  EXPECT_EQ(EvalI(Op::kPow, DType::kInt32, 2, 31), kMin64 >> 32);
  EXPECT_EQ(EvalI(Op::kPow, DType::kInt32, 0, 0), 1);
  EXPECT_EQ(EvalI(Op::kPow, DType::kInt32, 2, -1), 0);
  EXPECT_EQ(EvalI(Op::kPow, DType::kInt32, 0, -1), 0);
  EXPECT_EQ(EvalI(Op::kPow, DType::kInt32, -1, -3), -1);
  EXPECT_EQ(EvalI(Op::kPow, DType::kInt32, 1, -3), 1);
}

TEST(EvaluateOpTest, MaxAndMinPropagateNanAndOrderZeros) {
  for (const Op op : {Op::kMax, Op::kMin}) {
    EXPECT_TRUE(std::isnan(EvalF(op, kNan, 1)));
    EXPECT_TRUE(std::isnan(EvalF(op, 1, kNan)));
    EXPECT_TRUE(std::isnan(EvalF(op, kNan, kInf)));
  }
  EXPECT_FALSE(std::signbit(EvalF(Op::kMax, -0.0, 0.0)));
  EXPECT_FALSE(std::signbit(EvalF(Op::kMax, 0.0, -0.0)));
  EXPECT_TRUE(std::signbit(EvalF(Op::kMin, -0.0, 0.0)));
  EXPECT_TRUE(std::signbit(EvalF(Op::kMin, 0.0, -0.0)));
  EXPECT_EQ(EvalF(Op::kMax, -kInf, 3), 3);
  EXPECT_EQ(EvalF(Op::kMin, -kInf, 3), -kInf);
}

TEST(EvaluateOpTest, RoundIsHalfToEven) {
  const double table[][2] = {{0.5, 0},   {1.5, 2}, {2.5, 2},  {-0.5, -0.0},
                             {-1.5, -2}, {2.4, 2}, {-2.6, -3}};
  for (const auto& row : table) EXPECT_EQ(EvalF(Op::kRound, row[0]), row[1]);
  EXPECT_TRUE(std::signbit(EvalF(Op::kRound, -0.5)));
}

TEST(EvaluateOpTest, ComparisonsWithNanAreFalseExceptNe) {
  const Scalar operands[] = {{kNan, 0}, {kNan, 0}};
  for (const Op op : {Op::kEq, Op::kLt, Op::kLe, Op::kGt, Op::kGe}) {
    EXPECT_EQ(EvaluateOp(op, DType::kBool, DType::kFloat32, operands, false).i,
              0);
  }
  EXPECT_EQ(
      EvaluateOp(Op::kNe, DType::kBool, DType::kFloat32, operands, false).i, 1);
  EXPECT_EQ(
      EvaluateOp(Op::kIsNan, DType::kBool, DType::kFloat32, operands, false).i,
      1);
}

TEST(EvaluateOpTest, FloatToIntTruncatesAndSaturates) {
  struct Row {
    DType to;
    double value;
    int64_t expected;
  };
  const Row table[] = {{DType::kInt32, 2.9, 2},
                       {DType::kInt32, -2.9, -2},
                       {DType::kInt32, kNan, 0},
                       {DType::kInt32, kInf, INT32_MAX},
                       {DType::kInt32, -kInf, INT32_MIN},
                       {DType::kInt32, 2147483647.9, INT32_MAX},
                       {DType::kInt32, -2147483648.9, INT32_MIN},
                       {DType::kInt8, 127.5, 127},
                       {DType::kInt8, 128, 127},
                       {DType::kInt8, -128.9, -128},
                       {DType::kInt8, -129, -128},
                       {DType::kUInt8, -0.9, 0},
                       {DType::kUInt8, -5, 0},
                       {DType::kUInt8, 255.9, 255},
                       {DType::kUInt8, 256, 255},
                       {DType::kInt64, 0x1p63, kMax64},
                       {DType::kInt64, -0x1p63, kMin64},
                       {DType::kInt64, 0x1p62, int64_t{1} << 62},
                       {DType::kUInt64, 0x1p63, kMin64},
                       {DType::kUInt64, 0x1p64, -1},
                       {DType::kUInt64, -1, 0},
                       {DType::kUInt64, kNan, 0},
                       {DType::kUInt32, 4294967295.5, 4294967295},
                       {DType::kInt16, 1e9, 32767},
                       {DType::kUInt16, 70000, 65535},
                       {DType::kBool, 0.25, 1},
                       {DType::kBool, -0.0, 0}};
  for (const Row& row : table) {
    const Scalar value{row.value, 0};
    EXPECT_EQ(
        EvaluateOp(Op::kCast, row.to, DType::kFloat64, {&value, 1}, false).i,
        row.expected)
        << row.value << " to " << Name(row.to);
  }
}

TEST(EvaluateOpTest, IntegerCastsWrapAndBoolIsNotZero) {
  const auto cast = [](DType to, int64_t i) {
    const Scalar value{0, i};
    return EvaluateOp(Op::kCast, to, DType::kInt64, {&value, 1}, false).i;
  };
  EXPECT_EQ(cast(DType::kInt8, 300), 44);
  EXPECT_EQ(cast(DType::kUInt8, -1), 255);
  EXPECT_EQ(cast(DType::kInt32, int64_t{1} << 31), INT32_MIN);
  EXPECT_EQ(cast(DType::kBool, 256), 1);
}

TEST(EvaluateOpTest, SingleRoundsEveryOperation) {
  const double third = EvalF(Op::kDiv, 1, 3, DType::kFloat32, true);
  EXPECT_EQ(third, 1.0f / 3.0f);
  EXPECT_EQ(EvalF(Op::kDiv, 1, 3, DType::kFloat32, false), 1.0 / 3);
  EXPECT_EQ(EvalF(Op::kDiv, 1, 3, DType::kFloat16, true), 1.0f / 3.0f)
      << "f16 computes in f32";
  EXPECT_EQ(EvalF(Op::kDiv, 1, 3, DType::kFloat64, true), 1.0 / 3);
  const Scalar value{1.0 / 3, 0};
  EXPECT_EQ(
      EvaluateOp(Op::kCast, DType::kFloat16, DType::kFloat64, {&value, 1}, true)
          .f,
      0x555p-12);
  EXPECT_EQ(EvaluateOp(Op::kCast, DType::kFloat16, DType::kFloat64, {&value, 1},
                       false)
                .f,
            1.0 / 3);
  EXPECT_EQ(EvalF(Op::kMul, 0x1p100, 0x1p100, DType::kFloat32, true), kInf);
}

TEST(EvaluateOpTest, FunctionsReachTheirLimits) {
  EXPECT_EQ(EvalF(Op::kSigmoid, -1000), 0);
  EXPECT_EQ(EvalF(Op::kSigmoid, 1000), 1);
  EXPECT_EQ(EvalF(Op::kSigmoid, 0), 0.5);
  EXPECT_EQ(EvalF(Op::kTanh, kInf), 1);
  EXPECT_EQ(EvalF(Op::kErf, -kInf), -1);
  EXPECT_EQ(EvalF(Op::kExp, -kInf), 0);
  EXPECT_EQ(EvalF(Op::kLog, 0), -kInf);
  EXPECT_TRUE(std::isnan(EvalF(Op::kLog, -1)));
  EXPECT_TRUE(std::isnan(EvalF(Op::kSqrt, -1)));
  EXPECT_TRUE(std::signbit(EvalF(Op::kSqrt, -0.0)));
  EXPECT_EQ(EvalF(Op::kPow, 2, 0.5), std::sqrt(2.0));
  EXPECT_EQ(EvalF(Op::kFloor, -0.5), -1);
  EXPECT_EQ(EvalF(Op::kCeil, 0.5), 1);
  EXPECT_EQ(EvalF(Op::kDiv, 1, 0), kInf);
}

TEST(InterpreterTest, AResultThatNoMemoryHoldsIsAStatus) {
  TensorGraph graph;
  const TensorId y =
      graph.AddCompute("Y", DType::kFloat32, Map({int64_t{1} << 40}, F(1)));
  TW_ASSERT_OK_AND_ASSIGN(const auto interpreter,
                          Interpreter::Create(graph, {}, {}));
  EXPECT_THAT(interpreter->Evaluate(y),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "cannot allocate 4398046511104 bytes (4.0 TiB) for "
                       "tensor 'Y'"));
}

}  // namespace
}  // namespace tilewright
