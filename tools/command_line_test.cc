#include "tools/command_line.h"

#include "base/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tilewright::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::Status ParseStatus(const std::vector<std::string>& args) {
  return CommandLine::Parse(args).status();
}

TEST(CommandLineTest, FlagsAndArgumentsMayStandInAnyOrder) {
  TW_ASSERT_OK_AND_ASSIGN(
      const CommandLine line,
      CommandLine::Parse({"compile", "--threads=2", "m.onnx", "-o", "m.tw",
                          "--dim=batch=4", "--dim", "n=3", "--json"}));
  EXPECT_EQ(line.command(), "compile");
  EXPECT_THAT(line.positional(), ElementsAre("m.onnx"));
  EXPECT_EQ(line.Get("output"), "m.tw");
  EXPECT_EQ(line.GetInt("threads", 0), 2);
  EXPECT_THAT(line.All("dim"), ElementsAre("batch=4", "n=3"));
  EXPECT_TRUE(line.Has("json"));
  EXPECT_FALSE(line.Has("spec"));
}

TEST(CommandLineTest, AnUnknownCommandOrFlagGetsTheNearestKnownOne) {
  EXPECT_THAT(ParseStatus({"benhcmark", "m"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("did you mean 'benchmark'?")));
  EXPECT_THAT(ParseStatus({"run", "m", "--thread=2"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("did you mean '--threads'?")));
}

TEST(CommandLineTest, AFlagOfAnotherCommandIsUnknown) {
  EXPECT_THAT(ParseStatus({"run", "m", "--group=1"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'run' has no flag --group")));
}

TEST(CommandLineTest, AFlagOfAMissingPartSaysSo) {
  EXPECT_THAT(ParseStatus({"compile", "m", "--daemon=unix:x"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("does not have yet")));
  EXPECT_THAT(ParseStatus({"tune", "m"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("does not have yet")));
}

TEST(CommandLineTest, ValuesAreChecked) {
  EXPECT_THAT(
      ParseStatus({"run", "m", "--threads=two"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a number")));
  EXPECT_THAT(
      ParseStatus({"run", "m", "--threads"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs a value")));
  EXPECT_THAT(ParseStatus({"run", "m", "--json=1"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("takes no value")));
  EXPECT_THAT(ParseStatus({}), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("no command")));
}

TEST(CommandLineTest, HelpIsGivenAfterACommandToo) {
  for (const char* help : {"--help", "-h"}) {
    TW_ASSERT_OK_AND_ASSIGN(const CommandLine line,
                            CommandLine::Parse({"inspect", "m", help}));
    EXPECT_EQ(line.command(), "help");
  }
}

TEST(CommandLineTest, UsageNamesEveryCommandThatWorks) {
  for (const char* command :
       {"compile", "run", "benchmark", "inspect", "conformance", "devices"})
    EXPECT_THAT(Usage(), HasSubstr(command));
}

}  // namespace
}  // namespace tilewright::tools
