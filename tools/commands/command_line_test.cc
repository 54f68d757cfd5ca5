#include "tools/commands/command_line.h"

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
                       HasSubstr("'run' has no flag --group=1; see")));
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

struct WithoutEffect {
  std::vector<std::string> args;
  const char* why;
};

TEST(CommandLineTest, AFlagWithoutEffectIsAnErrorThatSaysWhy) {
  const std::vector<WithoutEffect> cases = {
      // A search begins with the rules, on this machine.
      {{"tune", "m.onnx", "--decisions=a"}, "--decisions has no effect on a"},
      {{"tune", "m.onnx", "--records=a.db", "--nearest"}, "--nearest has no"},
      {{"tune", "m.onnx", "--target=cuda:sm_90a"}, "measures on this machine"},
      {{"tune", "m.onnx", "--target=emulator:cuda"}, "--target=cuda for its"},
      {{"tune", "m.onnx", "--target=cuda", "--threads=2"}, "search for a GPU"},
      {{"tune", "m.onnx", "--target=cuda", "--policy=sketch"},
       "no schedules for GPUs yet"},
      {{"tune", "m.onnx", "--target=cuda", "--records=DB", "--daemon=HOST:1"},
       "a search for a GPU measures on this machine"},
      {{"tune", "m.onnx", "--spec=a100"}, "--spec has no effect on a search"},
      {{"tune", "m.onnx", "--optimizer=grid", "--cost-model=gbt"},
       "predict nothing"},
      {{"tune", "m.onnx", "--optimizer=contextual", "--cost-model=gbt"},
       "tells variances"},
      {{"tune", "m.onnx", "--optimizer=random", "--crossover"},
       "is of --optimizer=evolution"},
      // A .tw is compiled already.
      {{"run", "m.tw", "--target=cpu:x86-64-v3"}, "--target has no effect on"},
      {{"run", "m.tw", "--spec=a100"}, "--spec has no effect on a .tw"},
      {{"run", "m.tw", "--connect=none"}, "'tilewright compile'"},
      {{"run", "m.tw", "--dim=n=2"}, "--dim has no effect"},
      {{"benchmark", "m.tw", "--bind=n=2"}, "--bind has no effect"},
      {{"benchmark", "m.tw", "--allow=bf16"}, "--allow has no effect"},
      {{"benchmark", "m.tw", "--records=a.db"}, "--records has no effect"},
      {{"benchmark", "m.tw", "--decisions=a"}, "--decisions has no effect"},
      {{"benchmark", "m.tw", "--measure"}, "--measure has no effect"},
      {{"benchmark", "m.tw", "--connect-search=greedy"}, "--connect-search"},
      {{"run", "m.tw", "--cost=traffic"}, "--cost has no effect on a .tw"},
      {{"run", "m.tw", "--level-cap=dram:1M"}, "--level-cap has no effect"},
      {{"run", "m.tw", "--check"}, "--check needs the .onnx"},
      {{"inspect", "m.tw", "--connect=none"}, "inspect the .onnx"},
      {{"inspect", "m.tw", "--threads=4"}, "--what=roofline"},
      {{"inspect", "m.tw", "--spec=a100"}, "--what=roofline"},
      {{"inspect", "m.tw", "--what=why"}, "--what of a .tw is program or"},
      {{"inspect", "m.tw", "--report=a.html"}, "--report draws the plan"},
      {{"inspect", "m.onnx", "--what=program"}, "--what=program is of a .tw"},
      // The model as it was imported.
      {{"inspect", "m.onnx", "--what=graph", "--allow=bf16"}, "--what=graph"},
      {{"inspect", "m.onnx", "--what=graph", "--threads=4"}, "--what=graph"},
      {{"inspect", "m.onnx", "--what=graph", "--decisions=a"}, "--what=graph"},
      // One flag beside another.
      {{"run", "m.onnx", "--target=cpu", "--spec=a100"}, "beside --spec"},
      {{"compile", "m.onnx", "--connect=none", "--cost=traffic"},
       "--cost has no effect"},
      {{"compile", "m.onnx", "--connect=register", "--connect-search=edges"},
       "--connect-search has"},
      {{"compile", "m.onnx", "--connect=register", "--measure"},
       "without --connect=tilegraph"},
      {{"compile", "m.onnx", "--nearest"}, "--nearest needs --records=DB"},
      {{"compile", "m.onnx", "--connect=tilegraph", "--measure=soon"},
       "--measure=soon: not a number"},
      {{"compile", "m.onnx", "--connect=tilegraph", "--measure=0"},
       "--measure=0: expected 1 to 86400"},
      {{"compile", "m.onnx", "--connect=tilegraph", "--measure"},
       "--measure needs --records=DB"},
      {{"compile", "m.onnx", "--connect=tilegraph", "--measure",
        "--records=a.db", "--target=cpu:x86-64-v3"},
       "--measure needs the machine that is compiled for"},
      {{"compile", "m.onnx", "--connect=none", "--allow=bf16,winograd4"},
       "--allow=winograd4 has no effect with --connect=none"},
      {{"compile", "m.onnx", "--target=cuda:sm_90a", "--cost=traffic"},
       "--cost has no effect on GPUs"},
      {{"run", "m.onnx", "--target=emulator:hip", "--allow=winograd4"},
       "--allow=winograd4 has no effect on GPUs"},
      {{"run", "m.onnx", "--target=emulator:cuda", "--flush-denormals"},
       "--flush-denormals has no effect on GPUs"},
      {{"run", "m.onnx", "--data=a", "--seed=1"}, "--seed has no effect"},
      {{"inspect", "m.onnx", "--group=1"}, "--group has no effect but with"},
      {{"inspect", "m.onnx", "--what=graph", "--group=1"}, "--group has no"},
      {{"inspect", "m.tw", "--group=1"}, "--group has no effect but with"},
      {{"inspect", "m.onnx", "--what=kernel", "--report=a"}, "--what=plan"},
      // Actions on a store.
      {{"records", "ls", "a.db", "--output=b"}, "'records export' alone"},
      {{"records", "stats", "a.db", "--verified"}, "'records export' alone"},
      {{"records", "stats", "a.db", "--workload=b"}, "'records best' alone"},
      {{"records", "export", "a.db", "--json"}, "prints JSON lines"},
  };
  for (const WithoutEffect& one : cases) {
    EXPECT_THAT(
        ParseStatus(one.args),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(one.why)))
        << testing::PrintToString(one.args);
  }
}

TEST(CommandLineTest, FlagsThatHaveAnEffectAreTaken) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{
           {"compile", "m.onnx", "-o", "m.tw", "--connect=tilegraph",
            "--records=a.db", "--measure=60", "--cost=traffic",
            "--connect-search=greedy", "--threads=64", "--allow=winograd4"},
           {"compile", "m.onnx", "--connect=tilegraph", "--records=a.db",
            "--measure"},
           {"compile", "m.onnx", "--connect=tilegraph", "--records=a.db",
            "--target=cpu:x86-64-v3"},
           {"compile", "m.onnx", "--records=a.db", "--decisions=a.txt",
            "--nearest"},
           {"compile", "m.onnx", "--cost=traffic", "--connect-search=edges"},
           {"inspect", "m.onnx", "--what=decisions", "--group=0"},
           {"run", "m.tw", "--threads=3", "--seed=2", "--output-dir=a"},
           {"run", "m.onnx", "--check", "--data=a"},
           {"benchmark", "m.tw", "--profile", "--seconds=0.5"},
           {"benchmark", "m.tw", "--profile=all", "--seconds=0"},
           {"inspect", "m.tw", "--what=roofline", "--spec=a", "--threads=2"},
           {"inspect", "m.onnx", "--what=graph", "--dim=n=2"},
           {"inspect", "m.onnx", "--what=why", "--group=1", "--report=a"},
           {"conformance", "folder", "--connect=tilegraph"},
           {"records", "export", "a.db", "--verified", "-o", "b"},
       }) {
    TW_EXPECT_OK(ParseStatus(args)) << testing::PrintToString(args);
  }
}

TEST(CommandLineTest, ValuesAreOfTheirRangeOrChoice) {
  for (const char* wrong : {"--threads=-7", "--threads=0", "--threads=5000"})
    EXPECT_THAT(ParseStatus({"compile", "m.onnx", wrong}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(": expected 1 to 4096")));
  for (const char* wrong : {"--seconds=-1", "--seconds=1e9", "--seconds=inf"})
    EXPECT_THAT(ParseStatus({"benchmark", "m.onnx", wrong}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(": expected 0 to 86400")));
  EXPECT_THAT(
      ParseStatus({"benchmark", "m.onnx", "--seconds=nan"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a number")));
  EXPECT_THAT(ParseStatus({"inspect", "m.onnx", "--what=why", "--group=-1"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(": expected 0 or more")));
  EXPECT_THAT(ParseStatus({"run", "m.onnx", "--allow=bf16,winograd"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--allow=bf16,winograd: expected winograd4 or "
                                 "bf16; did you mean 'winograd4'?")));
  EXPECT_THAT(ParseStatus({"run", "m.onnx", "--connect=registers"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("tilegraph, register or none; did you mean "
                                 "'register'?")));
  EXPECT_THAT(ParseStatus({"benchmark", "m.onnx", "--profile=most"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--profile=most: expected all")));
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
