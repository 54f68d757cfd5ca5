#include "bench/options/options.h"

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    parser_.Flag("show", &show_);
    parser_.Flag("show-all", &show_all_);
    parser_.Text("case", &case_);
    parser_.Number("threads", &threads_, 1);
    parser_.Number("seconds", &seconds_, 0.0);
    parser_.List("tile", &tile_, 1);
    parser_.Value("mode", [](absl::string_view mode) {
      return mode == "fast" ? absl::OkStatus()
                            : absl::InvalidArgumentError("give fast");
    });
  }
  std::string Error(const std::vector<std::string>& arguments) const {
    return std::string(parser_.Parse(arguments).status().message());
  }

  OptionParser parser_;
  bool show_ = false, show_all_ = false;
  std::string case_ = "all";
  int threads_ = 4;
  double seconds_ = 0.5;
  std::vector<int64_t> tile_ = {8};
};

TEST_F(OptionsTest, WhatIsGivenIsSetAndTheRestStays) {
  TW_ASSERT_OK_AND_ASSIGN(
      const std::vector<std::string> rest,
      parser_.Parse({"one", "--show-all", "--tile=16,64", "--seconds=1.5",
                     "--mode=fast", "two"}));
  EXPECT_THAT(rest, ElementsAre("one", "two"));
  EXPECT_FALSE(show_);
  EXPECT_TRUE(show_all_);
  EXPECT_EQ(case_, "all");
  EXPECT_EQ(threads_, 4);
  EXPECT_EQ(seconds_, 1.5);
  EXPECT_THAT(tile_, ElementsAre(16, 64));
  TW_ASSERT_OK(parser_.Parse({"--case=a=b", "--threads=1"}));
  EXPECT_EQ(case_, "a=b");
  EXPECT_EQ(threads_, 1);
}

TEST_F(OptionsTest, ErrorsNameTheArgument) {
  EXPECT_THAT(Error({"--thread=2"}), HasSubstr("unknown flag --thread=2"));
  EXPECT_THAT(Error({"--thread=2"}), HasSubstr("--threads= "));
  EXPECT_THAT(Error({"--show=1"}), HasSubstr("unknown flag --show=1"));
  EXPECT_THAT(Error({"--threads"}), HasSubstr("unknown flag --threads"));
  EXPECT_THAT(Error({"-h"}), HasSubstr("unknown flag -h"));
  EXPECT_THAT(Error({"--threads=0"}),
              HasSubstr("--threads: '0' is no number from 1 on"));
  EXPECT_THAT(Error({"--seconds=soon"}), HasSubstr("'soon'"));
  EXPECT_THAT(Error({"--seconds=nan"}), HasSubstr("'nan'"));
  EXPECT_THAT(Error({"--tile=16,,4"}), HasSubstr("--tile: ''"));
  EXPECT_THAT(Error({"--mode=slow"}), HasSubstr("--mode: give fast"));
  EXPECT_THAT(tile_, ElementsAre(8));
}

TEST(UserPathTest, IsRelativeToWhereTheUserStands) {
  EXPECT_EQ(UserPath("a/b", nullptr), "a/b");
  EXPECT_EQ(UserPath("a/b", "/home"), "/home/a/b");
  EXPECT_EQ(UserPath("/a/b", "/home"), "/a/b");
}

}  // namespace
}  // namespace tilewright::bench
