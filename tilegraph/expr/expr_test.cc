#include "tilegraph/expr/expr.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

Expr V(int id) {
  return Expr::Var(id, std::string(1, static_cast<char>('i' + id)));
}
Expr F(double value) { return Expr::Float(value); }
Expr L(std::vector<Expr> indices) {
  return Expr::Load(3, DType::kFloat32, std::move(indices));
}

TEST(ExprTest, EqualityComparesTheTreeAndNotVariableNames) {
  EXPECT_EQ(V(0) + V(1) * Expr::Int(2), V(0) + V(1) * Expr::Int(2));
  EXPECT_NE(V(0) + V(1), V(1) + V(0));
  EXPECT_EQ(Expr::Var(0, "a"), Expr::Var(0, "b"));
  EXPECT_NE(Expr::Var(0, "a"), Expr::Var(1, "a"));
  EXPECT_NE(F(0.0), F(-0.0));
  EXPECT_EQ(F(std::nan("")), F(-std::nan("1")));
  EXPECT_NE(Expr::Int(1), Expr::Int(1, DType::kInt32));
  EXPECT_NE(L({V(0)}), Expr::Load(2, DType::kFloat32, {V(0)}));
  EXPECT_EQ((V(0) + V(1)).hash(), (V(0) + V(1)).hash());
  EXPECT_FALSE(Expr());
  EXPECT_TRUE(V(0));
}

TEST(ExprTest, ConstantsHoldWhatTheirDTypeHolds) {
  EXPECT_EQ(Expr::Int(300, DType::kInt8).int_value(), 44);
  EXPECT_EQ(Expr::Int(7, DType::kBool).int_value(), 1);
  EXPECT_EQ(F(0.1).float_value(), static_cast<double>(0.1f));
  EXPECT_EQ(Expr::Float(0.1, DType::kFloat64).float_value(), 0.1);
}

TEST(ExprTest, IndexArithmeticFoldsConstantsAndIdentities) {
  const Expr i = V(0), zero = Expr::Int(0), one = Expr::Int(1);
  EXPECT_EQ(i + zero, i);
  EXPECT_EQ(zero + i, i);
  EXPECT_EQ(i - zero, i);
  EXPECT_EQ(i * one, i);
  EXPECT_EQ(one * i, i);
  EXPECT_TRUE((i * zero).IsIntConst(0));
  EXPECT_EQ(FloorDiv(i, one), i);
  EXPECT_TRUE(FloorMod(i, one).IsIntConst(0));
  EXPECT_TRUE((Expr::Int(3) + Expr::Int(4)).IsIntConst(7));
  const int64_t min = std::numeric_limits<int64_t>::min(),
                max = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE((Expr::Int(max) + one).IsIntConst(min));
  EXPECT_TRUE((Expr::Int(min) - one).IsIntConst(max));
  EXPECT_TRUE((Expr::Int(max) * Expr::Int(2)).IsIntConst(-2));
  for (int64_t a = -7; a <= 7; ++a) {
    for (int64_t b = -3; b <= 3; ++b) {
      const int64_t quotient =
          b == 0 ? 0
                 : static_cast<int64_t>(std::floor(static_cast<double>(a) /
                                                   static_cast<double>(b)));
      EXPECT_TRUE(FloorDiv(Expr::Int(a), Expr::Int(b)).IsIntConst(quotient))
          << a << " " << b;
      EXPECT_TRUE(FloorMod(Expr::Int(a), Expr::Int(b))
                      .IsIntConst(b == 0 ? 0 : a - b * quotient))
          << a << " " << b;
    }
  }
  EXPECT_TRUE(FloorDiv(Expr::Int(min), Expr::Int(-1)).IsIntConst(min));
}

TEST(ExprDeathTest, OperandsThatDoNotFitAreOurBug) {
  EXPECT_DEATH(Expr::Make(Op::kAdd, {F(1), V(0)}),
               "operation add does not take operands of dtypes: f32 i64");
  EXPECT_DEATH(Expr::Make(Op::kNeg, {Expr()}), "empty operand of neg");
  EXPECT_DEATH(L({F(1)}), "index 1.0 is no i64");
  EXPECT_DEATH(V(0).int_value(), "is no integer constant");
}

TEST(ExprTest, VisitSeesOperandsBeforeTheirUsers) {
  std::vector<std::string> seen;
  Visit(Expr::Make(Op::kMax, {L({V(0) + Expr::Int(1)}), F(0)}),
        [&](const Expr& e) { seen.push_back(e.ToString()); });
  EXPECT_THAT(seen, ::testing::ElementsAre("i", "1", "i + 1", "%3[i + 1]",
                                           "0.0", "max(%3[i + 1], 0.0)"));
}

TEST(ExprTest, SubstituteReplacesOnlyBoundVariables) {
  const Expr body =
      Expr::Make(Op::kMul, {L({V(0), V(1)}), L({V(1), V(0) - V(1)})});
  const Expr replaced = Substitute(body, [](int id) {
    return id == 0 ? V(2) * Expr::Int(8) + V(1) : Expr();
  });
  EXPECT_EQ(replaced.ToString(), "%3[k * 8 + j, j] * %3[j, k * 8 + j - j]");
  EXPECT_EQ(Substitute(body, [](int) { return Expr(); }), body);
}

TEST(ExprTest, RewriteSeesNodesWithRewrittenOperandsOnceForAllUsers) {
  Expr shared = L({V(0)});
  for (int i = 0; i < 60; ++i)
    shared = Expr::Make(Op::kAdd, {shared, shared});  // 2^60 paths.
  int calls = 0;
  const Expr result = Rewrite(shared, [&](const Expr& node) {
    ++calls;
    return node.op() == Op::kLoad ? F(1) : Expr();
  });
  EXPECT_LE(calls, 63);
  EXPECT_EQ(result.op(), Op::kAdd);
  const Expr folded = Rewrite(result, [](const Expr& node) {
    if (node.op() != Op::kAdd) return Expr();
    return Expr::Float(node.operand(0).float_value() +
                       node.operand(1).float_value());
  });
  EXPECT_EQ(folded.float_value(), 0x1p60);
}

TEST(ExprTest, WithOperandsKeepsEverythingElse) {
  EXPECT_EQ(WithOperands(L({V(0)}), {V(1)}), L({V(1)}));
  EXPECT_EQ(WithOperands(Expr::Cast(DType::kInt8, V(0)), {V(1)}),
            Expr::Cast(DType::kInt8, V(1)));
  EXPECT_EQ(WithOperands(F(2), {}), F(2));
}

TEST(ExprTest, PrintsInfixWithTheParenthesesItNeeds) {
  const Expr i = V(0), j = V(1), k = V(2);
  const auto make = [](Op op, std::vector<Expr> operands) {
    return Expr::Make(op, std::move(operands)).ToString();
  };
  EXPECT_EQ((i - (j - k)).ToString(), "i - (j - k)");
  EXPECT_EQ(((i - j) - k).ToString(), "i - j - k");
  EXPECT_EQ(((i + j) * k).ToString(), "(i + j) * k");
  EXPECT_EQ(FloorDiv(i * Expr::Int(3), j).ToString(), "i * 3 floordiv j");
  EXPECT_EQ(FloorMod(i, j + k).ToString(), "i floormod (j + k)");
  const Expr lt = Expr::Make(Op::kLt, {i, j}),
             ge = Expr::Make(Op::kGe, {i + j, k});
  EXPECT_EQ(make(Op::kAnd, {Expr::Make(Op::kOr, {lt, ge}), lt}),
            "(i < j || i + j >= k) && i < j");
  EXPECT_EQ(make(Op::kOr, {lt, Expr::Make(Op::kAnd, {lt, ge})}),
            "i < j || i < j && i + j >= k");
  EXPECT_EQ(make(Op::kEq, {lt, ge}), "(i < j) == (i + j >= k)");
  EXPECT_EQ(make(Op::kAnd, {i, j}), "and(i, j)");
  EXPECT_EQ(make(Op::kNeg, {F(1)}), "neg(1.0)");
  EXPECT_EQ(F(-1).ToString(), "-1.0");
  EXPECT_EQ(Expr::Cast(DType::kFloat16, F(1e-5)).ToString(), "cast:f16(1e-05)");
  EXPECT_EQ(Expr::Int(5, DType::kUInt8).ToString(), "5:u8");
  EXPECT_EQ(Expr::Int(-1, DType::kUInt64).ToString(),
            "18446744073709551615:u64");
  EXPECT_EQ(Expr::Int(1, DType::kBool).ToString(), "true");
  EXPECT_EQ(Expr::Float(0.1, DType::kFloat64).ToString(), "0.1:f64");
  EXPECT_EQ(F(-std::numeric_limits<double>::infinity()).ToString(), "-inf");
  EXPECT_EQ(Expr().operator bool(), false);
}

}  // namespace
}  // namespace tilewright
