#include "base/status_macros.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::EndsWith;
using ::testing::Gt;
using ::testing::Not;

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) return absl::InvalidArgumentError("odd value");
  return value / 2;
}

absl::StatusOr<int> Quarter(int value) {
  TW_ASSIGN_OR_RETURN(int half, Half(value));
  TW_ASSIGN_OR_RETURN(half, Half(half));
  return half;
}

absl::Status CheckBoth(int a, int b) {
  TW_RETURN_IF_ERROR(Half(a));
  TW_RETURN_IF_ERROR(Half(b).status());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<int>> Boxed(int value) {
  TW_ASSIGN_OR_RETURN(auto box, [&]() -> absl::StatusOr<std::unique_ptr<int>> {
    return std::make_unique<int>(value);
  }());
  return box;
}

TEST(StatusMacrosTest, ValuesPassAndErrorsReturnEarly) {
  EXPECT_THAT(Quarter(12), IsOkAndHolds(3));
  EXPECT_THAT(Quarter(6), StatusIs(absl::StatusCode::kInvalidArgument, "odd"));
  TW_EXPECT_OK(CheckBoth(2, 4));
  EXPECT_THAT(CheckBoth(1, 4), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckBoth(4, 1), Not(IsOk()));
}

TEST(StatusMacrosTest, MoveOnlyValuesAreMoved) {
  TW_ASSERT_OK_AND_ASSIGN(std::unique_ptr<int> box, Boxed(5));
  EXPECT_EQ(*box, 5);
}

TEST(StatusMatchersTest, MatchersRejectWhatDiffers) {
  const absl::Status error = absl::NotFoundError("no such file");
  EXPECT_THAT(error, StatusIs(absl::StatusCode::kNotFound, EndsWith("file")));
  EXPECT_THAT(error, Not(StatusIs(absl::StatusCode::kNotFound, "folder")));
  EXPECT_THAT(error, Not(StatusIs(absl::StatusCode::kInternal, "file")));
  EXPECT_THAT(Half(4), IsOkAndHolds(Gt(1)));
  EXPECT_THAT(Half(4), Not(IsOkAndHolds(3)));
  EXPECT_THAT(Half(5), Not(IsOkAndHolds(2)));
  EXPECT_THAT(Half(5),
              StatusIs(absl::StatusCode::kInvalidArgument, std::string("odd")));
}

}  // namespace
}  // namespace tilewright
