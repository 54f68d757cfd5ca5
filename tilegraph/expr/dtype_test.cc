#include "tilegraph/expr/dtype.h"

#include <string>

#include "gtest/gtest.h"

namespace tilewright {
namespace {

TEST(DTypeTest, NamesParseBackAndSizesFollowThem) {
  for (int i = 0; i <= static_cast<int>(DType::kFloat64); ++i) {
    const DType dtype = static_cast<DType>(i);
    EXPECT_EQ(ParseDType(Name(dtype)), dtype);
    const std::string_view name = Name(dtype);
    const int64_t bits =
        dtype == DType::kBool
            ? 8
            : std::stoi(
                  std::string(name.substr(name.find_first_of("0123456789"))));
    EXPECT_EQ(SizeBytes(dtype) * 8, bits) << name;
    EXPECT_EQ(IsFloat(dtype), name.find('f') != std::string_view::npos) << name;
    EXPECT_EQ(IsInteger(dtype), name[0] == 'i' || name[0] == 'u') << name;
  }
  EXPECT_EQ(ParseDType("f33"), std::nullopt);
  EXPECT_EQ(ParseDType(""), std::nullopt);
}

}  // namespace
}  // namespace tilewright
