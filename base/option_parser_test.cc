#include "base/option_parser.h"

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    parser_.Flag("show", &show_);
    parser_.Flag("show-all", &show_all_);
    parser_.Text("case", &case_);
    parser_.Number("threads", &threads_, 1);
    parser_.Number("seconds", &seconds_, 0.0, 10.0);
    parser_.List("tile", &tile_, 1);
    parser_.Value("mode", [](absl::string_view mode) {
      return CheckChoice(mode, {"fast", "slower"});
    });
    parser_.Optional("seed", [this](absl::string_view seed) {
      seed_ = std::string(seed);
      return absl::OkStatus();
    });
    parser_.Alias('t', "threads");
    parser_.PassOn("--other_", &others_);
  }
  std::string Error(const std::vector<std::string>& arguments) const {
    return std::string(parser_.Parse(arguments).status().message());
  }

  OptionParser parser_;
  bool show_ = false, show_all_ = false;
  std::string case_ = "all", seed_ = "none";
  std::vector<std::string> others_;
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

TEST_F(OptionsTest, AValueMayBeTheNextArgument) {
  TW_ASSERT_OK_AND_ASSIGN(const std::vector<std::string> rest,
                          parser_.Parse({"--threads", "2", "--seed", "three"}));
  EXPECT_EQ(threads_, 2);
  EXPECT_EQ(seed_, "");
  EXPECT_THAT(rest, ElementsAre("three"));
  TW_ASSERT_OK(parser_.Parse({"--seed=9", "-t", "5", "-"}));
  EXPECT_EQ(threads_, 5);
  EXPECT_EQ(seed_, "9");
}

TEST_F(OptionsTest, ArgumentsOfAnotherParserArePassedOn) {
  TW_ASSERT_OK(parser_.Parse({"--other_min=3", "--threads=2", "--other_x"}));
  EXPECT_THAT(others_, ElementsAre("--other_min=3", "--other_x"));
}

TEST_F(OptionsTest, ErrorsNameTheArgument) {
  EXPECT_EQ(Error({"--thread=2"}),
            "no flag --thread=2; did you mean '--threads'?");
  EXPECT_EQ(Error({"-h"}),
            "no flag -h; there are --case --mode --seconds --seed --show "
            "--show-all --threads --tile");
  EXPECT_EQ(Error({"--show=1"}), "--show=1: takes no value");
  EXPECT_EQ(Error({"--threads"}), "--threads needs a value: --threads=...");
  EXPECT_EQ(Error({"--threads", "--show"}),
            "--threads needs a value: --threads=...");
  EXPECT_EQ(Error({"--threads=0"}), "--threads=0: expected 1 or more");
  EXPECT_EQ(Error({"--threads=1.5"}), "--threads=1.5: not a number");
  EXPECT_EQ(Error({"--seconds=soon"}), "--seconds=soon: not a number");
  EXPECT_EQ(Error({"--seconds=nan"}), "--seconds=nan: not a number");
  EXPECT_EQ(Error({"--seconds=11"}), "--seconds=11: expected 0 to 10");
  EXPECT_EQ(Error({"--tile=16,,4"}), "--tile=16,,4: not a number");
  EXPECT_EQ(Error({"--mode=slow"}),
            "--mode=slow: expected fast or slower; did you mean 'slower'?");
  EXPECT_THAT(tile_, ElementsAre(8));
  EXPECT_EQ(seconds_, 0.5);
}

TEST(OptionParserTest, MessagesNameTheOwnerAndWhereHelpIs) {
  OptionParser parser("run", "see --help");
  parser.Flag("json", nullptr);
  EXPECT_EQ(parser.Parse({"--trials=2"}).status().message(),
            "'run' has no flag --trials=2; see --help");
}

TEST(UserPathTest, IsRelativeToWhereTheUserStands) {
  EXPECT_EQ(UserPath("a/b", nullptr), "a/b");
  EXPECT_EQ(UserPath("a/b", "/home"), "/home/a/b");
  EXPECT_EQ(UserPath("/a/b", "/home"), "/a/b");
  EXPECT_EQ(UserPath("", "/home"), "");
}

}  // namespace
}  // namespace tilewright
