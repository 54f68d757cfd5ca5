#include "tilegraph/expr/op.h"

#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(OpTest, NamesOfOperationsAreReadBack) {
  EXPECT_EQ(Name(Op::kFloorMod), "floormod");
  for (int i = 0; i <= static_cast<int>(Op::kSelect); ++i) {
    const Op op = static_cast<Op>(i);
    // Leaves and casts are no operations that Make takes.
    const bool made = op > Op::kLoad && op != Op::kCast;
    EXPECT_EQ(ParseOp(Name(op)), made ? std::optional<Op>(op) : std::nullopt)
        << Name(op);
  }
  EXPECT_EQ(ParseOp("fma"), std::nullopt);
}

TEST(OpTest, SquareRootsAreNotTranscendental) {
  int count = 0;
  for (int i = 0; i <= static_cast<int>(Op::kSelect); ++i)
    count += IsTranscendental(static_cast<Op>(i));
  EXPECT_EQ(count, 8);
  EXPECT_TRUE(IsTranscendental(Op::kPow));
  EXPECT_FALSE(IsTranscendental(Op::kSqrt));
}

TEST(OpTest, DTypesOfResultsFollowTheOperation) {
  const auto result = [](Op op, std::vector<DType> operands) {
    return ResultDType(op, operands);
  };
  EXPECT_EQ(result(Op::kAdd, {DType::kFloat16, DType::kFloat16}),
            DType::kFloat16);
  EXPECT_EQ(result(Op::kAdd, {DType::kFloat16, DType::kFloat32}), std::nullopt);
  EXPECT_EQ(result(Op::kAdd, {DType::kBool, DType::kBool}), std::nullopt);
  EXPECT_EQ(result(Op::kAdd, {DType::kInt8}), std::nullopt);
  EXPECT_EQ(result(Op::kLt, {DType::kInt8, DType::kInt8}), DType::kBool);
  EXPECT_EQ(result(Op::kExp, {DType::kInt8}), std::nullopt);
  EXPECT_EQ(result(Op::kFloorMod, {DType::kFloat32, DType::kFloat32}),
            std::nullopt);
  EXPECT_EQ(result(Op::kAnd, {DType::kFloat32, DType::kFloat32}), std::nullopt);
  EXPECT_EQ(result(Op::kAnd, {DType::kUInt8, DType::kUInt8}), DType::kUInt8);
  EXPECT_EQ(result(Op::kIsNan, {DType::kFloat64}), DType::kBool);
  EXPECT_EQ(result(Op::kSelect, {DType::kBool, DType::kInt8, DType::kInt8}),
            DType::kInt8);
  EXPECT_EQ(result(Op::kSelect, {DType::kInt8, DType::kInt8, DType::kInt8}),
            std::nullopt);
  EXPECT_EQ(result(Op::kLoad, {DType::kInt64}), std::nullopt);
  EXPECT_EQ(result(Op::kCast, {DType::kInt64}), std::nullopt);
}

}  // namespace
}  // namespace tilewright
