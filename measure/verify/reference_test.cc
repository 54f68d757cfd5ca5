#include "tilegraph/reference/reference.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "base/random.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "measure/inputs/input_sets.h"
#include "measure/verify/interpreter_check.h"
#include "tilegraph/interpret/interpreter.h"
#include "tilegraph/ir/tensor_graph.h"
#include "tilegraph/testing/random_graph.h"

namespace tilewright::measure {
namespace {

Expr V(int id) { return Expr::Var(id, "v"); }

// C[m, n] = sum over k of A[m, k] * B[k, n].
TensorGraph Gemm(int64_t m, int64_t n, int64_t k,
                 DType dtype = DType::kFloat32) {
  TensorGraph graph;
  const TensorId a = graph.AddPlaceholder("A", dtype, {m, k});
  const TensorId b = graph.AddPlaceholder("B", dtype, {k, n});
  Compute compute;
  compute.axes = {{"m", m}, {"n", n}};
  compute.reduce_axes = {{"k", k}};
  compute.combiner =
      Combiner(Combiner::Kind::kSum, Combiner::DefaultAccumulator(dtype));
  Expr product = Expr::Make(
      Op::kMul, {graph.Load(a, {V(0), V(2)}), graph.Load(b, {V(2), V(1)})});
  compute.body = {product};
  graph.SetOutputs({graph.AddCompute("C", dtype, compute)});
  return graph;
}

TEST(ReferenceTest, AgreesWithTheInterpreterOnEveryElementOfRandomGraphs) {
  int compared = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const TensorGraph graph = RandomGraph(seed);
    const InputSet inputs = RandomInputs(graph, seed, /*exact_integers=*/false);
    InputSet all = inputs;
    for (const Tensor& tensor : graph.tensors()) {
      if (tensor.kind == TensorKind::kConstant) all[tensor.id] = *tensor.value;
    }
    TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult result,
                            EvaluateReference(graph, all, {}));
    TW_ASSERT_OK_AND_ASSIGN(auto interpreter,
                            Interpreter::Create(graph, inputs, {}));
    for (const auto& [id, tensor] : result.outputs) {
      std::vector<int64_t> index(tensor.shape.size(), 0);
      for (int64_t position = 0; position < graph.tensor(id).num_elements();
           ++position) {
        int64_t rest = position;
        for (int d = static_cast<int>(index.size()) - 1; d >= 0; --d)
          index[d] = rest % tensor.shape[d], rest /= tensor.shape[d];
        TW_ASSERT_OK_AND_ASSIGN(const Scalar expected,
                                interpreter->At(id, index));
        ++compared;
        if (!IsFloat(tensor.dtype)) {
          ASSERT_EQ(tensor.integer[position], expected.i)
              << "seed " << seed << " " << graph.tensor(id).name << " at "
              << position;
        } else if (expected.f != tensor.value[position] &&
                   !(std::isnan(expected.f) &&
                     std::isnan(tensor.value[position]))) {
          const double tolerance =
              tensor.bound.empty() ? 0 : tensor.bound[position] * 0x1p-25;
          ASSERT_LE(std::fabs(tensor.value[position] - expected.f), tolerance)
              << "seed " << seed << " " << graph.tensor(id).name << " at "
              << position << ": " << tensor.value[position] << ", "
              << expected.f;
        }
      }
    }
  }
  EXPECT_GT(compared, 10000);
}

TEST(ReferenceTest, SingleAndManyThreadsGiveTheSame) {
  const TensorGraph graph = Gemm(70, 300, 20);
  Random random(3);
  const InputSet inputs = DrawRealSet(graph, random);
  ReferenceOptions many;
  many.threads = 3;
  TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult a,
                          EvaluateReference(graph, inputs, {}));
  TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult b,
                          EvaluateReference(graph, inputs, many));
  EXPECT_EQ(a.outputs.begin()->second.value, b.outputs.begin()->second.value);
  EXPECT_EQ(a.outputs.begin()->second.bound, b.outputs.begin()->second.bound);
}

// The bound of a sum: what an honest fp32 kernel errs by is inside it, in any
// order, and not by orders of magnitude.
TEST(ReferenceTest, BoundOfASumHoldsForEveryOrderAndIsTight) {
  constexpr int64_t kTerms = 1000;
  const TensorGraph graph = Gemm(4, 33, kTerms);
  Random random(5);
  const InputSet inputs = DrawRealSet(graph, random);
  TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult result,
                          EvaluateReference(graph, inputs, {}));
  const ReferenceTensor& c = result.outputs.begin()->second;
  const auto a = inputs.at(0).as<float>(), b = inputs.at(1).as<float>();
  double worst = 0;
  for (int64_t m = 0; m < 4; ++m) {
    for (int64_t n = 0; n < 33; ++n) {
      float forward = 0, backward = 0;
      for (int64_t k = 0; k < kTerms; ++k) {
        forward += a[m * kTerms + k] * b[k * 33 + n];
        backward = std::fma(a[m * kTerms + kTerms - 1 - k],
                            b[(kTerms - 1 - k) * 33 + n], backward);
      }
      for (const float y : {forward, backward})
        worst = std::max(
            worst, std::fabs(y - c.value[m * 33 + n]) / c.bound[m * 33 + n]);
    }
  }
  EXPECT_LT(worst, 1);
  EXPECT_GT(worst, 0.01);
}

TEST(ReferenceTest, InputsAreExactAndMovesKeepThemSo) {
  TensorGraph graph;
  const TensorId a = graph.AddPlaceholder("A", DType::kFloat32, {5, 7});
  Compute compute;
  compute.axes = {{"i", 7}, {"j", 5}};
  compute.body = {graph.Load(a, {V(1), V(0)})};
  graph.SetOutputs({graph.AddCompute("T", DType::kFloat32, compute)});
  Random random(1);
  const InputSet inputs = DrawRealSet(graph, random);
  TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult result,
                          EvaluateReference(graph, inputs, {}));
  const ReferenceTensor& t = result.outputs.begin()->second;
  EXPECT_TRUE(t.bound.empty());
  EXPECT_EQ(t.value[1 * 5 + 2], inputs.at(a).as<float>()[2 * 7 + 1]);
}

TEST(ReferenceTest, StoringToHalfAddsOneRoundingOfHalf) {
  const TensorGraph graph = Gemm(2, 3, 16, DType::kFloat16);
  Random random(1);
  TW_ASSERT_OK_AND_ASSIGN(
      const ReferenceResult result,
      EvaluateReference(graph, DrawRealSet(graph, random), {}));
  const ReferenceTensor& c = result.outputs.begin()->second;
  for (size_t k = 0; k < c.value.size(); ++k) {
    EXPECT_GE(c.bound[k], 0x1p-11 * std::fabs(c.value[k]));
    EXPECT_LE(c.bound[k], 0x1p-11 * std::fabs(c.value[k]) + 1e-4);
  }
}

// As far from a clip as errors can reach, its end is exact; casts to a wider
// integer keep the error of one to a narrower.
TEST(ReferenceTest, ClipsAndCastsOfIntegersKeepBoundsFinite) {
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {4});
  const Expr scaled =
      Expr::Make(Op::kMul, {graph.Load(x, {V(0)}), Expr::Float(3)});
  const Expr clipped = Expr::Make(
      Op::kMin,
      {Expr::Make(Op::kMax, {scaled, Expr::Float(0)}), Expr::Float(255)});
  const auto add = [&](const char* name, DType dtype, const Expr& body) {
    Compute compute;
    compute.axes = {{"i", 4}};
    compute.body = {body};
    return graph.AddCompute(name, dtype, compute);
  };
  const TensorId y = add("y", DType::kFloat32, clipped);
  const TensorId z = add(
      "z", DType::kInt32,
      Expr::Cast(DType::kInt32,
                 Expr::Cast(DType::kUInt8, Expr::Make(Op::kRound, {clipped}))));
  graph.SetOutputs({y, z});
  HostTensor values(DType::kFloat32, {4});
  const float given[] = {-1, 1e6, 10.1f, 0.5f};  // 1.5 rounds either way
  std::copy_n(given, 4, values.as<float>().begin());
  TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult result,
                          EvaluateReference(graph, {{x, values}}, {}));
  const std::vector<double>& e = result.outputs.at(y).bound;
  EXPECT_EQ(e[0], 0);
  EXPECT_EQ(e[1], 0);
  EXPECT_GT(e[2], 0);
  EXPECT_LT(e[2], 1e-4);
  const std::vector<double>& f = result.outputs.at(z).bound;
  EXPECT_EQ(f[0], 0);
  EXPECT_EQ(f[1], 0);
  EXPECT_EQ(f[2], 0);
  EXPECT_GT(f[3], 0);
  EXPECT_LT(f[3], 32);
}

// round(x * 3) at x = 1/6: half an ulp decides, so either neighbour is right;
// at x = 0.4 only one is.
TEST(ReferenceTest, ADecisionThatRoundingCouldTurnIsBoundedByWhatItChanges) {
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {2});
  Compute compute;
  compute.axes = {{"i", 2}};
  const Expr tripled =
      Expr::Make(Op::kMul, {graph.Load(x, {V(0)}), Expr::Float(3)});
  compute.body = {
      Expr::Make(Op::kSelect, {Expr::Make(Op::kGt, {tripled, Expr::Float(0.5)}),
                               Expr::Float(10), Expr::Float(20)})};
  graph.SetOutputs({graph.AddCompute("y", DType::kFloat32, compute)});
  HostTensor values(DType::kFloat32, {2});
  values.as<float>()[0] = 1.0f / 6;
  values.as<float>()[1] = 0.4f;
  TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult result,
                          EvaluateReference(graph, {{x, values}}, {}));
  const ReferenceTensor& y = result.outputs.begin()->second;
  EXPECT_EQ(y.bound[0], 10);
  EXPECT_EQ(y.bound[1], 0);
  EXPECT_EQ(y.value[1], 10);
}

// sigmoid(-97) is 500 times the smallest number of fp32: half of that is what
// any kernel may lose, and the factor makes it larger.
TEST(ReferenceTest, FunctionsWithSmallResultsLoseDigits) {
  for (const Op op : {Op::kSigmoid, Op::kExp}) {
    TensorGraph graph;
    const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {1});
    Compute compute;
    compute.axes = {{"i", 1}};
    const Expr load = graph.Load(x, {V(0)});
    compute.body = {Expr::Make(Op::kMul, {load, Expr::Make(op, {load})})};
    graph.SetOutputs({graph.AddCompute("y", DType::kFloat32, compute)});
    HostTensor values(DType::kFloat32, {1});
    values.as<float>()[0] = -97;
    TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult result,
                            EvaluateReference(graph, {{x, values}}, {}));
    const ReferenceTensor& y = result.outputs.begin()->second;
    EXPECT_GE(y.bound[0], 97 * 0x1p-149) << Name(op);
    EXPECT_LE(y.bound[0], 98 * 0x1p-149) << Name(op);
  }
}

TEST(ReferenceTest, ALoadOutsideItsTensorShowsAsNan) {
  TensorGraph graph;
  const TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {4});
  Compute compute;
  compute.axes = {{"i", 6}};
  compute.body = {graph.Load(x, {V(0) - Expr::Int(1)})};
  graph.SetOutputs({graph.AddCompute("y", DType::kFloat32, compute)});
  Random random(1);
  TW_ASSERT_OK_AND_ASSIGN(
      const ReferenceResult result,
      EvaluateReference(graph, DrawRealSet(graph, random), {}));
  const ReferenceTensor& y = result.outputs.begin()->second;
  EXPECT_TRUE(std::isnan(y.value[0]));
  EXPECT_FALSE(std::isnan(y.value[1]));
  EXPECT_FALSE(std::isnan(y.value[4]));
  EXPECT_TRUE(std::isnan(y.value[5]));
}

TEST(ReferenceTest, ExactRunsReportTheLargestPartialSumOfAnyOrder) {
  const TensorGraph graph = Gemm(1, 1, 4);
  HostTensor a(DType::kFloat32, {1, 4}), b(DType::kFloat32, {4, 1});
  const float left[] = {3, -3, 2, 1}, right[] = {5, 5, 1, 1};
  std::copy(left, left + 4, a.as<float>().begin());
  std::copy(right, right + 4, b.as<float>().begin());
  ReferenceOptions exact;
  exact.exact = true;
  TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult result,
                          EvaluateReference(graph, {{0, a}, {1, b}}, exact));
  EXPECT_EQ(result.outputs.begin()->second.value[0], 3);
  EXPECT_EQ(result.largest_magnitude, 33);
}

TEST(ReferenceTest, MissingOrMisshapenInputsAreRefused) {
  const TensorGraph graph = Gemm(2, 3, 4);
  Random random(1);
  InputSet inputs = DrawRealSet(graph, random);
  inputs[1] = HostTensor(DType::kFloat32, {3, 4});
  EXPECT_THAT(EvaluateReference(graph, inputs, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "'B'"));
  inputs.erase(0);
  EXPECT_THAT(EvaluateReference(graph, inputs, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "no value for 'A'"));
}

// ResNet-18's largest convolutions hold 116 million products: reference and
// bounds must be ready in seconds.
TEST(ReferenceTest, LargestConvolutionOfResNet18TakesSeconds) {
  TensorGraph graph;
  const TensorId p =
      graph.AddPlaceholder("P", DType::kFloat32, {1, 64, 58, 58});
  const TensorId w = graph.AddPlaceholder("W", DType::kFloat32, {64, 64, 3, 3});
  Compute compute;
  compute.axes = {{"n", 1}, {"f", 64}, {"y", 56}, {"x", 56}};
  compute.reduce_axes = {{"c", 64}, {"i", 3}, {"j", 3}};
  compute.combiner = Combiner(Combiner::Kind::kSum, DType::kFloat32);
  compute.body = {Expr::Make(
      Op::kMul, {graph.Load(p, {V(0), V(4), V(2) + V(5), V(3) + V(6)}),
                 graph.Load(w, {V(1), V(4), V(5), V(6)})})};
  graph.SetOutputs({graph.AddCompute("C", DType::kFloat32, compute)});
  Random random(1);
  const InputSet inputs = DrawRealSet(graph, random);
  const auto start = std::chrono::steady_clock::now();
  TW_ASSERT_OK_AND_ASSIGN(const ReferenceResult result,
                          EvaluateReference(graph, inputs, {}));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 20);  // about one on an idle machine
  TW_EXPECT_OK(
      CompareWithInterpreter(graph, inputs, result.outputs, 0x1p-24, random));
}

}  // namespace
}  // namespace tilewright::measure
