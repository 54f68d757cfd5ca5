#include "tilegraph/ir/intrinsics.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tilegraph/ir/verifier.h"

namespace tilewright {
namespace {

const Combiner kSum(Combiner::Kind::kSum, DType::kInt32);

Expr Load(int source, DType dtype) {
  return Expr::Load(source, dtype, {Expr::Var(0, "k")});
}
Expr Product(DType acc, const Expr& x, const Expr& y) {
  return Expr::Make(Op::kMul, {Expr::Cast(acc, x), Expr::Cast(acc, y)});
}

TEST(IntrinsicsTest, EachIsFoundAndItsMeaningIsAGraph) {
  EXPECT_EQ(DotIntrinsics().size(), 2u);
  for (const DotIntrinsic& dot : DotIntrinsics()) {
    EXPECT_EQ(FindDotIntrinsic(dot.name), &dot);
    EXPECT_TRUE(VerifyGraph(Semantics(dot, 16)).ok());
  }
  EXPECT_EQ(FindDotIntrinsic("dot3"), nullptr);
}

TEST(IntrinsicsTest, TermsMatchInEitherOrder) {
  const Expr x = Load(1, DType::kUInt8), w = Load(2, DType::kInt8);
  for (const Expr& term :
       {Product(DType::kInt32, x, w), Product(DType::kInt32, w, x)}) {
    const auto match = MatchDotTerm(kSum, term);
    ASSERT_TRUE(match.has_value());
    EXPECT_EQ(match->intrinsic->name, "dot4_u8s8_i32");
    EXPECT_EQ(match->a, x);
    EXPECT_EQ(match->b, w);
  }
}

TEST(IntrinsicsTest, OtherTermsDoNot) {
  const Expr x = Load(1, DType::kUInt8), w = Load(2, DType::kInt8);
  EXPECT_FALSE(MatchDotTerm(kSum, Product(DType::kInt32, x, x)));
  EXPECT_FALSE(MatchDotTerm(kSum, Product(DType::kInt32, w, w)));
  EXPECT_FALSE(MatchDotTerm(Combiner(Combiner::Kind::kMax, DType::kInt32),
                            Product(DType::kInt32, x, w)));
  EXPECT_FALSE(MatchDotTerm(Combiner(Combiner::Kind::kSum, DType::kInt64),
                            Product(DType::kInt64, x, w)));
  EXPECT_FALSE(MatchDotTerm(
      kSum, Product(DType::kInt32, x, Expr::Int(3, DType::kInt8))));
}

}  // namespace
}  // namespace tilewright
