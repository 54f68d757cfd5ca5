#include "base/run_in_child.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;

TEST(RunInChildTest, ReturnsWhatTheWorkReturns) {
  int here = 1;
  const std::string large(1 << 20, 'x');
  EXPECT_THAT(RunInChild("copying", 10,
                         [&] {
                           here = 2;
                           return large;
                         }),
              IsOkAndHolds(large));
  EXPECT_EQ(here, 1);
  EXPECT_THAT(RunInChild("nothing", 10, [] { return std::string(); }),
              IsOkAndHolds(""));
}

TEST(RunInChildTest, ErrorsKeepTheirMeaning) {
  EXPECT_THAT(
      RunInChild("failing", 10,
                 []() -> absl::StatusOr<std::string> {
                   return absl::InvalidArgumentError("line 7 is wrong");
                 }),
      StatusIs(StatusCode::kInvalidArgument, HasSubstr("line 7 is wrong")));
}

TEST(RunInChildTest, TheSignalThatEndsItIsNamed) {
  EXPECT_THAT(RunInChild("aborting", 10,
                         []() -> absl::StatusOr<std::string> { std::abort(); }),
              StatusIs(StatusCode::kAborted,
                       HasSubstr("aborting was ended by signal 6")));
}

TEST(RunInChildTest, LeavingWithoutAnAnswerIsAnError) {
  EXPECT_THAT(RunInChild("leaving", 10,
                         []() -> absl::StatusOr<std::string> { _exit(3); }),
              StatusIs(StatusCode::kAborted, HasSubstr("status 3")));
}

TEST(RunInChildTest, ItMayNotTakeForever) {
  EXPECT_THAT(RunInChild("sleeping", 1,
                         []() -> absl::StatusOr<std::string> {
                           while (true) pause();
                         }),
              StatusIs(StatusCode::kDeadlineExceeded, HasSubstr("1 s")));
}

}  // namespace
}  // namespace tilewright
