#include "tilegraph/ir/dim.h"

#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(DimTest, AnIntegerIsStaticAndASymbolIsNot) {
  const Dim number = 64;
  EXPECT_TRUE(number.is_static());
  EXPECT_EQ(number.value(), 64);
  EXPECT_EQ(number.ToString(), "64");
  const Dim symbol = Dim::Symbol("batch", 1, 32);
  EXPECT_FALSE(symbol.is_static());
  EXPECT_EQ(symbol.ToString(), "batch(1..32)");
  EXPECT_NE(symbol, Dim::Symbol("batch", 1, 31));
  EXPECT_NE(symbol, Dim(32));
  EXPECT_EQ(symbol, Dim::Symbol("batch", 1, 32));
}

TEST(DimDeathTest, ASymbolHasNoValue) {
  EXPECT_DEATH(Dim::Symbol("n", 1, 2).value(), "n\\(1..2\\) is symbolic");
}

}  // namespace
}  // namespace tilewright
