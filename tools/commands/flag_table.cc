#include "tools/commands/flag_table.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/option_parser.h"
#include "base/status_macros.h"

namespace tilewright::tools {
namespace {

using Value = Flag::Value;

constexpr char kOnnxCommands[] =
    "compile run benchmark inspect conformance tune";
constexpr double kMostThreads = 4096;
constexpr double kMostSeconds = 86400;
constexpr double kMostTrials = 1e8;

constexpr Flag kFlags[] = {
    // How to compile: every command that takes an .onnx.
    {"target", Value::kText, "onnx"},
    {"spec", Value::kText, "onnx"},
    {"connect", Value::kText, "onnx", "tilegraph register none"},
    {"threads", Value::kInt, "onnx", "", 1, kMostThreads},
    {"dim", Value::kText, "onnx"},
    {"bind", Value::kText, "onnx"},
    {"allow", Value::kList, "onnx", "winograd4 bf16"},
    {"decisions", Value::kText, "onnx"},
    {"records", Value::kText, "onnx"},
    {"nearest", Value::kNone, "onnx"},
    {"measure", Value::kOptional, "onnx", "", 1, kMostSeconds},
    {"connect-search", Value::kText, "onnx", "edges greedy"},
    {"cost", Value::kText, "onnx", "time traffic"},
    {"level-cap", Value::kText, "onnx"},
    {"daemon", Value::kText, "onnx"},
    {"tls", Value::kText, "onnx"},
    // Actions.
    {"output", Value::kText, "compile records"},
    {"data", Value::kText, "run"},
    {"input", Value::kText, "run"},
    {"output-dir", Value::kText, "run"},
    {"check", Value::kNone, "run"},
    {"flush-denormals", Value::kNone, "run benchmark"},
    {"seed", Value::kInt, "run benchmark tune"},
    {"seconds", Value::kDouble, "benchmark", "", 0, kMostSeconds},
    {"profile", Value::kOptional, "benchmark", "all"},
    {"trace", Value::kText, "benchmark tune"},
    {"report", Value::kText, "benchmark inspect tune"},
    {"what", Value::kText, "inspect",
     "graph plan why decisions schedule kernel source roofline program"},
    {"group", Value::kInt, "inspect", "", 0},
    {"workload", Value::kText, "records"},
    {"verified", Value::kNone, "records"},
    {"json", Value::kNone,
     "compile run benchmark inspect conformance devices records tune"},
    // How to search.
    {"trials", Value::kInt, "tune", "", 1, kMostTrials},
    {"time", Value::kDouble, "tune", "", 1, kMostSeconds},
    {"policy", Value::kText, "tune", "rules tilegraph template sketch"},
    {"keep-bits", Value::kNone, "tune"},
    {"optimizer", Value::kText, "tune",
     "evolution annealing contextual random grid"},
    {"cost-model", Value::kText, "tune", "gbt forest random"},
    {"crossover", Value::kNone, "tune"},
    {"scheduler", Value::kText, "tune", "gradient roundrobin"},
    {"priority", Value::kInt, "tune", "", -1000, 1000},
};

std::vector<std::string> Words(const char* text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

absl::Status CheckOneOf(const char* choices, absl::string_view value) {
  return *choices == '\0' ? absl::OkStatus()
                          : CheckChoice(value, Words(choices));
}

}  // namespace

std::vector<Flag> FlagsOf(const std::string& command) {
  std::vector<Flag> flags;
  for (const Flag& flag : kFlags) {
    const std::vector<std::string> commands =
        Words(absl::string_view(flag.commands) == "onnx" ? kOnnxCommands
                                                         : flag.commands);
    if (std::find(commands.begin(), commands.end(), command) != commands.end())
      flags.push_back(flag);
  }
  return flags;
}

absl::Status CheckValue(const Flag& flag, absl::string_view value) {
  int64_t integer;
  double number;
  switch (flag.value) {
    case Value::kNone:
      return value.empty() ? absl::OkStatus()
                           : absl::InvalidArgumentError("takes no value");
    case Value::kInt:
      return ParseNumber(value, flag.least, flag.most, &integer);
    case Value::kDouble:
      return ParseNumber(value, flag.least, flag.most, &number);
    case Value::kOptional:
      if (value.empty()) return absl::OkStatus();
      return *flag.choices != '\0'
                 ? CheckOneOf(flag.choices, value)
                 : ParseNumber(value, flag.least, flag.most, &number);
    case Value::kText:
      return CheckOneOf(flag.choices, value);
    case Value::kList:
      for (const absl::string_view one : absl::StrSplit(value, ','))
        TW_RETURN_IF_ERROR(CheckOneOf(flag.choices, one));
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace tilewright::tools
