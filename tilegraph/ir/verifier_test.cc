#include "tilegraph/ir/verifier.h"

#include <memory>

#include "base/status_matchers.h"
#include "gtest/gtest.h"
#include "tilegraph/text/text_form.h"

namespace tilewright {
namespace {

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

Expr V(int id) { return Expr::Var(id, "v"); }
Combiner SumF32() { return Combiner(Combiner::Kind::kSum, DType::kFloat32); }

struct OneCompute {
  TensorGraph graph;
  TensorId x = graph.AddPlaceholder("x", DType::kFloat32, {4, 8});
  absl::Status With(Compute compute) {
    graph.AddCompute("y", DType::kFloat32, std::move(compute));
    return VerifyGraph(graph);
  }
};

Compute Map(std::vector<Expr> body) {
  return Compute{{{"i", 4}, {"j", 8}}, {}, std::nullopt, std::move(body)};
}

TEST(VerifierTest, AcceptsWhatIsSound) {
  OneCompute c;
  EXPECT_THAT(c.With(Map({c.graph.Load(c.x, {V(0), V(1)})})), IsOk());
  EXPECT_THAT(VerifyGraph(TensorGraph()), IsOk());
}

TEST(VerifierTest, RefusesSymbolicAndEmptyExtents) {
  TensorGraph symbolic;
  symbolic.AddPlaceholder("x", DType::kFloat32, {Dim::Symbol("n", 1, 8)});
  EXPECT_THAT(VerifyGraph(symbolic),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "tensor 'x' has the symbolic extent n(1..8)"));
  TensorGraph empty;
  empty.AddPlaceholder("x", DType::kFloat32, {4, 0});
  EXPECT_THAT(VerifyGraph(empty),
              StatusIs(kInvalid, "tensor 'x' has the extent 0, below 1"));
  OneCompute c;
  EXPECT_THAT(
      c.With(Compute{{{"i", 4}}, {{"k", 0}}, SumF32(), {Expr::Float(1)}}),
      StatusIs(kInvalid, "extent 0"));
  TensorGraph huge;
  huge.AddPlaceholder("x", DType::kFloat32,
                      {int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_THAT(VerifyGraph(huge), StatusIs(kInvalid, "larger than 2^48 bytes"));
}

TEST(VerifierTest, RefusesBodiesOfTheWrongArityOrDType) {
  const Expr one = Expr::Float(1);
  EXPECT_THAT(OneCompute().With(Map({})),
              StatusIs(kInvalid, "has 0 body expressions where 1 are needed"));
  EXPECT_THAT(OneCompute().With(Map({one, one})),
              StatusIs(kInvalid, "has 2 body expressions where 1 are needed"));
  EXPECT_THAT(OneCompute().With(Map({Expr()})),
              StatusIs(kInvalid, "has an empty body"));
  EXPECT_THAT(
      OneCompute().With(Compute{
          {{"i", 4}}, {{"k", 2}}, SumF32(), {Expr::Float(1, DType::kFloat16)}}),
      StatusIs(kInvalid,
               "has a body of dtype f16 where sum:f32 takes f32; add a cast"));
  EXPECT_THAT(
      OneCompute().With(Compute{{{"i", 4}}, {{"k", 2}}, std::nullopt, {one}}),
      StatusIs(kInvalid, "without a combiner"));
  EXPECT_THAT(OneCompute().With(Compute{{{"i", 4}}, {}, SumF32(), {one}}),
              StatusIs(kInvalid, "without reduce axes"));
  EXPECT_THAT(
      OneCompute().With(Compute{{{"i", 4}}, {{"k", 2}}, SumF32(), {one}, 1}),
      StatusIs(kInvalid, "takes component 1 of 1"));
  EXPECT_THAT(
      OneCompute().With(Compute{{{"i", 4}},
                                {{"k", 2}},
                                Combiner(Combiner::Kind::kSum, DType::kBool),
                                {Expr::Int(1, DType::kBool)}}),
      StatusIs(kInvalid, "sum:bool, which has no meaning"));
}

TEST(VerifierTest, RefusesRolesThatAnExpressionCannotHave) {
  OneCompute c;
  const Compute copy = Map({c.graph.Load(c.x, {V(0), V(1)})});
  c.graph.AddCompute("label", DType::kFloat32, copy, "gather");
  c.graph.AddCompute("copy", DType::kFloat32, copy, ComputeRole::kPlainCopy);
  EXPECT_THAT(VerifyGraph(c.graph), IsOk());
  c.graph.AddCompute("no sum", DType::kFloat32, copy, "winograd2");
  EXPECT_THAT(VerifyGraph(c.graph),
              StatusIs(kInvalid,
                       "tensor 'no sum' has the hint winograd2, "
                       "which its expression is not"));
}

TEST(VerifierTest, RefusesLoadsThatDoNotFitTheirTensor) {
  const auto load = [](int source, DType dtype, std::vector<Expr> indices) {
    return OneCompute().With(
        Map({Expr::Load(source, dtype, std::move(indices))}));
  };
  EXPECT_THAT(
      load(1, DType::kFloat32, {V(0), V(1)}),
      StatusIs(kInvalid, "loads tensor 1, which is not an earlier one"));
  EXPECT_THAT(load(-1, DType::kFloat32, {V(0), V(1)}),
              StatusIs(kInvalid, "loads tensor -1"));
  EXPECT_THAT(load(0, DType::kFloat64, {V(0), V(1)}),
              StatusIs(kInvalid, "loads 'x' as f64, but it is f32"));
  EXPECT_THAT(load(0, DType::kFloat32, {V(0)}),
              StatusIs(kInvalid, "with 1 indices, but it has 2 dimensions"));
  EXPECT_THAT(
      load(0, DType::kFloat32, {V(0), V(2)}),
      StatusIs(kInvalid, "uses variable v (2), which is none of its axes"));
  EXPECT_THAT(load(0, DType::kFloat32, {V(0), V(-1)}),
              StatusIs(kInvalid, "which is none of its axes"));
}

TEST(VerifierTest, RefusesOutputsThatDoNotExist) {
  OneCompute c;
  c.graph.SetOutputs({1});
  EXPECT_THAT(VerifyGraph(c.graph),
              StatusIs(kInvalid, "output 1 is no tensor of the graph"));
}

// `body` over x: f32[10], i in [0, 10), k in [0, 3).
absl::Status Bounds(const std::string& body) {
  return ParseText(
             "x: f32[10] = placeholder\nn: i64[10] = placeholder\n"
             "y: f32[10] = compute (i: 10) reduce (k: 3) sum:f32 { " +
             body + " }")
      .status();
}

TEST(VerifierTest, AffineIndicesStayInsideUnlessASelectGuardsThem) {
  const char* const sound[] = {
      "x[9 - i]",
      "x[0]",
      "x[4 * k]",
      "select(i + k < 10, x[i + k], 0)",
      "select(i + k >= 10, 0, x[i + k])",
      "select(i + k - 1 >= 0 && i + k - 1 < 10, x[i + k - 1], 0)",
      "select(i + k - 1 < 0 || i + k - 1 > 9, 0, x[i + k - 1])",
      "select(not(i + k - 1 < 0 || i + k - 1 > 9), x[i + k - 1], 0)",
      "select(i < 4, x[i * 2 + k], 0)",      // the guard narrows i
      "select(i >= 5, x[i - 5], x[i + 5])",  // concatenation
      "select(i == 3, x[i + 6], 0)",
      "select(2 * i < 9, x[2 * i + 1], 0)",
      "select(i + k < 9, select(k >= 1, x[i + k + 1], 0), 0)",
      "select(i floordiv 2 < 3, x[i floordiv 2 + 7], 0)",
      "select(i > 9, x[i + 100], 0)",  // never reached
      "select(false, x[i + 100], 0)",
  };
  for (const char* body : sound) EXPECT_THAT(Bounds(body), IsOk()) << body;
  const char* const unsound[] = {
      "x[i + 1]", "x[i - 1]", "x[10]", "x[-1]", "x[5 * k]",
      "select(i + k <= 10, x[i + k], 0)", "select(i + k < 10, 0, x[i + k])",
      "select(i + k - 1 >= 0, x[i + k - 1], 0)",
      "select(i + k - 1 < 10, x[i + k - 1], 0)",
      "select(i < 5, x[i * 2 + k], 0)", "select(i >= 5, x[i - 6], 0)",
      "select(i + k < 10, x[i + k], 0) + x[i + k]",  // guards only its own
                                                     // branch
      "select(x[i + 1] < 0, 0.0, 1.0)",  // the condition itself is outside
  };
  for (const char* body : unsound)
    EXPECT_THAT(Bounds(body), StatusIs(kInvalid, "which can leave [0, 10)"))
        << body;
}

TEST(VerifierTest, WhatOnlyDataDecidesIsLeftToEvaluation) {
  EXPECT_THAT(Bounds("x[n[i]]"), IsOk());
  EXPECT_THAT(Bounds("x[n[i] + 100]"), IsOk());
  EXPECT_THAT(Bounds("select(n[i] == 1 && x[i] < 3, x[i + k], 0)"), IsOk());
  EXPECT_THAT(Bounds("x[n[i + 1]]"), StatusIs(kInvalid, "loads 'n' at"));
}

}  // namespace
}  // namespace tilewright
