#include "base/allocation.h"

#include <sys/resource.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

TEST(AllocationTest, BytesAreAlsoSaidInUnitsOfPeople) {
  EXPECT_EQ(BytesText(7), "7 bytes");
  EXPECT_EQ(BytesText(12345678), "12345678 bytes (11.8 MiB)");
  EXPECT_EQ(BytesText(INT64_MAX), "9223372036854775807 bytes (8.0 EiB)");
}

TEST(AllocationTest, MoreThanAnyMachineHasIsRefusedWithItsPurpose) {
  EXPECT_THAT(
      CheckMemory(int64_t{1} << 60, "input 'x'"),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr("cannot allocate 1152921504606846976 bytes (1.0 EiB) "
                         "for input 'x'; ")));
  TW_EXPECT_OK(CheckMemory(0, "nothing"));
  TW_EXPECT_OK(CheckMemory(1 << 20, "little"));
}

TEST(AllocationTest, TheLimitOfTheProcessCounts) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = rlim_t{1} << 30;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const absl::Status status = CheckMemory(int64_t{2} << 30, "two");
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("for two")));
}

TEST(AllocationTest, ExceptionsBecomeOneLine) {
  const auto thrown = [](auto work) {
    return CatchExceptions("testing", [&]() -> absl::StatusOr<int> {
      work();
      return 1;
    });
  };
  TW_EXPECT_OK(thrown([] {}).status());
  EXPECT_THAT(thrown([] { throw std::bad_alloc(); }).status(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("out of memory while testing; ")));
  EXPECT_THAT(thrown([] {
                throw AllocationError(CannotAllocate(5, "a tensor"));
              }).status(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("cannot allocate 5 bytes for a tensor; ")));
  EXPECT_THAT(thrown([] {
                std::vector<char> v;
                v.reserve(v.max_size() + 1);
              }).status(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("too large for memory while testing")));
  EXPECT_THAT(
      thrown([] { throw std::runtime_error("boom"); }).status(),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("boom while testing")));
  EXPECT_THAT(thrown([] { throw 7; }).status(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("testing")));
}

}  // namespace
}  // namespace tilewright
