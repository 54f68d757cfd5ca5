#include "tools/tune/tune_page.h"

#include <string>

#include "absl/status/status.h"
#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kRun[] =
    R"({"event": "run", "model": "m</script>", "tasks": []})";
constexpr char kRound[] = R"({"event": "round", "trials": 8})";

TEST(TunePageTest, HoldsTheTrace) {
  TW_ASSERT_OK_AND_ASSIGN(const std::string page,
                          TunePage(std::string(kRun) + "\n" + kRound + "\n"));
  EXPECT_THAT(page, AllOf(HasSubstr(R"("event": "round", "trials": 8}])"),
                          Not(HasSubstr("m</script>")),
                          Not(HasSubstr("@DATA@")), HasSubstr("<html")));
}

// A run that was killed within a line.
TEST(TunePageTest, PassesOverATornLine) {
  TW_ASSERT_OK_AND_ASSIGN(
      const std::string page,
      TunePage(std::string(kRun) + "\n" + kRound + "\n{\"event\": \"rou"));
  EXPECT_THAT(page, HasSubstr(R"("trials": 8}])"));
}

TEST(TunePageTest, NamesWhatIsNoTrace) {
  EXPECT_THAT(TunePage(""), StatusIs(kInvalid, "empty"));
  EXPECT_THAT(TunePage("{\"eve"), StatusIs(kInvalid, "line 1"));
  EXPECT_THAT(TunePage(std::string(kRun) + "\n[]\n" + kRound),
              StatusIs(kInvalid, "line 2"));
  EXPECT_THAT(TunePage(kRound), StatusIs(kInvalid, "first line"));
}

}  // namespace
}  // namespace tilewright::tools
