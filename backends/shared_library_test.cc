#include "backends/shared_library.h"

#include <string>
#include <vector>

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::backends {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(SharedLibraryTest, TakesTheFirstThatOpens) {
  const std::vector<std::string> names = {"libnothing.so.7", "libm.so.6",
                                          "libc.so.6"};
  TW_ASSERT_OK_AND_ASSIGN(const auto library,
                          SharedLibrary::Open(names, "a C library"));
  EXPECT_EQ(library->name(), "libm.so.6");
  TW_ASSERT_OK_AND_ASSIGN(void* const symbol, library->Symbol("cos"));
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(symbol)(0), 1);
}

TEST(SharedLibraryTest, SaysWhatIsMissingAndWhatToDo) {
  const std::vector<std::string> none = {"libnothing.so.7", "/nowhere/x.so"};
  EXPECT_THAT(SharedLibrary::Open(none, "the vendor's driver"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("libnothing.so.7 or /nowhere/x.so"),
                             HasSubstr("install the vendor's driver"))));
  TW_ASSERT_OK_AND_ASSIGN(const auto library,
                          SharedLibrary::Open({"libm.so.6"}, "libm"));
  EXPECT_THAT(library->Symbol("cosy"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("libm.so.6 has no symbol cosy")));
}

}  // namespace
}  // namespace tilewright::backends
