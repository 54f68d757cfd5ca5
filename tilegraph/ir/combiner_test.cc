#include "tilegraph/ir/combiner.h"

#include <cmath>

#include "base/random.h"
#include "gtest/gtest.h"
#include "tilegraph/interpret/interpreter.h"

namespace tilewright {
namespace {

using Kind = Combiner::Kind;
using Tuple = std::vector<Scalar>;

constexpr Kind kAll[] = {Kind::kSum,     Kind::kProd,     Kind::kMax,
                         Kind::kMin,     Kind::kArgMax,   Kind::kArgMin,
                         Kind::kWelford, Kind::kMaxSumExp};

Scalar Evaluate(const Expr& expr, const std::vector<Scalar>& leaves) {
  if (expr.op() == Op::kConst) {
    return IsFloat(expr.dtype()) ? Scalar{expr.float_value(), 0}
                                 : Scalar{0, expr.int_value()};
  }
  if (expr.op() == Op::kLoad) return leaves[expr.source()];
  std::vector<Scalar> operands;
  for (const Expr& operand : expr.operands())
    operands.push_back(Evaluate(operand, leaves));
  const DType operand_dtype =
      expr.operand(expr.op() == Op::kSelect ? 1 : 0).dtype();
  return EvaluateOp(expr.op(), expr.dtype(), operand_dtype, operands, false);
}

Tuple Combine(const Combiner& combiner, const Tuple& a, const Tuple& b) {
  std::vector<Expr> left, right;
  Tuple leaves = a;
  leaves.insert(leaves.end(), b.begin(), b.end());
  for (int i = 0; i < combiner.arity(); ++i) {
    left.push_back(Expr::Load(i, combiner.component_dtype(i), {}));
    right.push_back(
        Expr::Load(combiner.arity() + i, combiner.component_dtype(i), {}));
  }
  Tuple result;
  for (const Expr& component : combiner.Combine(left, right))
    result.push_back(Evaluate(component, leaves));
  return result;
}

Tuple Identity(const Combiner& combiner) {
  Tuple result;
  for (const Expr& component : combiner.Identity())
    result.push_back(Evaluate(component, {}));
  return result;
}

// A tuple as the body of a reduction gives it.
Tuple Draw(const Combiner& combiner, Random& random, int64_t index) {
  const int64_t integer = random.UniformInt(-4, 4);
  const double number = combiner.exact_on_integers()
                            ? static_cast<double>(integer)
                            : random.Normal();
  switch (combiner.kind()) {
    case Kind::kArgMax:
    case Kind::kArgMin:
      return {Scalar{number, integer}, Scalar{0, index}};
    case Kind::kWelford:
      return {Scalar{number, 0}, Scalar{0, 0}, Scalar{1, 0}};
    case Kind::kMaxSumExp:
      return {Scalar{number, 0}, Scalar{1, 0}};
    default:
      return {Scalar{number, integer}};
  }
}

void ExpectNear(const Combiner& combiner, const Tuple& a, const Tuple& b) {
  for (int i = 0; i < combiner.arity(); ++i) {
    if (!IsFloat(combiner.component_dtype(i))) {
      EXPECT_EQ(a[i].i, b[i].i) << combiner.ToString();
    } else if (combiner.exact_on_integers() || std::isinf(b[i].f)) {
      EXPECT_EQ(a[i].f, b[i].f) << combiner.ToString();
    } else {
      EXPECT_NEAR(a[i].f, b[i].f, 1e-12 * (1 + std::fabs(b[i].f)))
          << combiner.ToString();
    }
  }
}

TEST(CombinerTest, IdentityChangesNothingAndOrderDoesNotMatter) {
  Random random(1);
  for (const Kind kind : kAll) {
    for (const DType acc :
         {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64}) {
      if (!Combiner::Supports(kind, acc)) continue;
      const Combiner combiner(kind, acc);
      const Tuple identity = Identity(combiner);
      ExpectNear(combiner, Combine(combiner, identity, identity), identity);
      for (int trial = 0; trial < 200; ++trial) {
        const Tuple a = Draw(combiner, random, 0),
                    b = Draw(combiner, random, 1),
                    c = Draw(combiner, random, 2);
        ExpectNear(combiner, Combine(combiner, identity, a), a);
        ExpectNear(combiner, Combine(combiner, a, identity), a);
        ExpectNear(combiner, Combine(combiner, a, b), Combine(combiner, b, a));
        ExpectNear(combiner, Combine(combiner, Combine(combiner, a, b), c),
                   Combine(combiner, a, Combine(combiner, b, c)));
      }
    }
  }
}

TEST(CombinerTest, IdentitiesOfMaxAndMinAreTheEndsOfTheDType) {
  EXPECT_EQ(Combiner(Kind::kMax, DType::kInt8).Identity()[0].int_value(), -128);
  EXPECT_EQ(Combiner(Kind::kMin, DType::kInt8).Identity()[0].int_value(), 127);
  EXPECT_EQ(Combiner(Kind::kMax, DType::kUInt8).Identity()[0].int_value(), 0);
  EXPECT_EQ(Combiner(Kind::kMin, DType::kUInt8).Identity()[0].int_value(), 255);
  EXPECT_EQ(Combiner(Kind::kMin, DType::kUInt64).Identity()[0].int_value(), -1);
  EXPECT_EQ(Combiner(Kind::kMin, DType::kBool).Identity()[0].int_value(), 1);
  EXPECT_EQ(Combiner(Kind::kMax, DType::kInt64).Identity()[0].int_value(),
            INT64_MIN);
  EXPECT_TRUE(std::isinf(
      Combiner(Kind::kMax, DType::kFloat16).Identity()[0].float_value()));
}

TEST(CombinerTest, NanGoesThroughMaxSumExpAndWelford) {
  const double nan = std::nan("");
  for (const Kind kind : {Kind::kMaxSumExp, Kind::kWelford}) {
    const Combiner combiner(kind, DType::kFloat32);
    Tuple a(combiner.arity(), Scalar{1, 0}), b = a;
    b[0].f = nan;
    EXPECT_TRUE(std::isnan(Combine(combiner, a, b)[0].f));
    EXPECT_TRUE(std::isnan(Combine(combiner, b, a)[1].f));
  }
}

TEST(CombinerTest, NamesParseBackWhereTheyMeanSomething) {
  for (const Kind kind : kAll) {
    for (int i = 0; i <= static_cast<int>(DType::kFloat64); ++i) {
      const Combiner combiner(kind, static_cast<DType>(i));
      const std::optional<Combiner> parsed =
          Combiner::Parse(combiner.ToString());
      EXPECT_EQ(parsed.has_value(), Combiner::Supports(kind, combiner.acc()))
          << combiner.ToString();
      if (parsed.has_value()) EXPECT_TRUE(*parsed == combiner);
    }
  }
  EXPECT_EQ(Combiner(Kind::kArgMax, DType::kFloat32).ToString(), "argmax:f32");
  for (const char* bad : {"", "sum", "sum:", ":f32", "sum:f33", "mean:f32",
                          "welford:i32", "sum:bool"}) {
    EXPECT_FALSE(Combiner::Parse(bad).has_value()) << bad;
  }
  EXPECT_EQ(Combiner::DefaultAccumulator(DType::kBFloat16), DType::kFloat32);
  EXPECT_EQ(Combiner::DefaultAccumulator(DType::kUInt8), DType::kInt32);
  EXPECT_EQ(Combiner::DefaultAccumulator(DType::kFloat64), DType::kFloat64);
}

}  // namespace
}  // namespace tilewright
