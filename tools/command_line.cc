#include "tools/command_line.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace tilewright::tools {
namespace {

enum class Value { kNone, kText, kInt, kDouble, kOptional };

struct Flag {
  const char* name;
  Value value;
  const char* commands;  // space-separated; "onnx" stands for every command
                         // that takes a model
  const char*
      missing;  // the part it needs that does not exist yet; null if it works
};

constexpr char kOnnxCommands[] = "compile run benchmark inspect conformance";

constexpr Flag kFlags[] = {
    // How to compile: every command that takes an .onnx.
    {"target", Value::kText, "onnx", nullptr},
    {"spec", Value::kText, "onnx", nullptr},
    {"connect", Value::kText, "onnx", nullptr},
    {"threads", Value::kInt, "onnx", nullptr},
    {"dim", Value::kText, "onnx", nullptr},
    {"bind", Value::kText, "onnx", nullptr},
    {"allow", Value::kText, "onnx", nullptr},
    {"no-measure", Value::kNone, "onnx", nullptr},
    {"records", Value::kText, "onnx", nullptr},
    {"connect-search", Value::kText, "onnx", nullptr},
    {"cost", Value::kText, "onnx", nullptr},
    {"level-cap", Value::kText, "onnx", nullptr},
    {"daemon", Value::kText, "onnx", "the tuning daemon"},
    // What to do.
    {"output", Value::kText, "compile records", nullptr},
    {"data", Value::kText, "run", nullptr},
    {"input", Value::kText, "run", nullptr},
    {"output-dir", Value::kText, "run", nullptr},
    {"check", Value::kNone, "run", nullptr},
    {"seed", Value::kInt, "run benchmark", nullptr},
    {"seconds", Value::kDouble, "benchmark", nullptr},
    {"profile", Value::kNone, "benchmark", nullptr},
    {"trace", Value::kText, "benchmark", nullptr},
    {"report", Value::kText, "benchmark inspect", nullptr},
    {"what", Value::kText, "inspect", nullptr},
    {"group", Value::kInt, "inspect", nullptr},
    {"workload", Value::kText, "records", nullptr},
    {"verified", Value::kNone, "records", nullptr},
    {"json", Value::kNone,
     "compile run benchmark inspect conformance devices records", nullptr},
};

struct Command {
  const char* name;
  const char* arguments;
  const char* summary;
  const char* missing;
};

constexpr Command kCommands[] = {
    {"compile", "MODEL.onnx -o OUT.tw",
     "compile a model for this CPU, or for --target", nullptr},
    {"run", "MODEL", "run a .onnx or .tw on given or random inputs", nullptr},
    {"benchmark", "MODEL", "latencies, GFLOP/s and share of the roofline",
     nullptr},
    {"inspect", "MODEL",
     "--what=graph|plan|why|schedule|kernel|source|roofline", nullptr},
    {"conformance", "DIR...",
     "run every */model.onnx against its test_data_set_*", nullptr},
    {"devices", "", "the devices of this machine and what they can do",
     nullptr},
    {"tune", "MODEL --records=DB", "search for faster schedules", "the tuner"},
    {"records", "ls|best|stats|merge|export|import DB ...",
     "look into tuning records, share them", nullptr},
};

int EditDistance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// "; did you mean 'threads'?", or "" if nothing is near.
std::string Suggestion(const std::string& given,
                       const std::vector<std::string>& known,
                       const std::string& prefix) {
  std::string best;
  int distance = static_cast<int>(given.size()) / 2 + 1;
  for (const std::string& name : known) {
    const int d = EditDistance(given, name);
    if (d < distance) best = name, distance = d;
  }
  return best.empty() ? "; see 'tilewright --help'"
                      : absl::StrCat("; did you mean '", prefix, best, "'?");
}

bool TakesFlag(const Flag& flag, const std::string& command) {
  const std::string commands = absl::string_view(flag.commands) == "onnx"
                                   ? kOnnxCommands
                                   : flag.commands;
  const std::vector<std::string> list = absl::StrSplit(commands, ' ');
  return std::find(list.begin(), list.end(), command) != list.end();
}

absl::StatusOr<Flag> FindFlag(const std::string& name,
                              const std::string& command) {
  std::vector<std::string> known;
  for (const Flag& flag : kFlags) {
    if (!TakesFlag(flag, command)) continue;
    if (name == flag.name) {
      if (flag.missing == nullptr) return flag;
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " needs ", flag.missing,
                       ", which this build does not have yet"));
    }
    known.push_back(flag.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", command, "' has no flag --", name, Suggestion(name, known, "--")));
}

absl::Status CheckValue(const Flag& flag, const std::string& value) {
  int64_t as_int;
  double as_double;
  const bool good =
      (flag.value == Value::kInt && absl::SimpleAtoi(value, &as_int)) ||
      (flag.value == Value::kDouble && absl::SimpleAtod(value, &as_double)) ||
      flag.value == Value::kText;
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag.name, "=", value, ": not a number"));
}

}  // namespace

absl::StatusOr<CommandLine> CommandLine::Parse(
    const std::vector<std::string>& args) {
  CommandLine line;
  if (args.empty())
    return absl::InvalidArgumentError("no command; see 'tilewright --help'");
  line.command_ = args[0];
  if (args[0] == "--version" || args[0] == "--help" || args[0] == "-h" ||
      args[0] == "help") {
    line.command_ = args[0] == "--version" ? "version" : "help";
    return line;
  }
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    names.push_back(command.name);
    if (args[0] != command.name || command.missing == nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("'", args[0], "' needs ", command.missing,
                     ", which this build does not have yet"));
  }
  if (std::find(names.begin(), names.end(), args[0]) == names.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no command '", args[0], "'", Suggestion(args[0], names, "")));
  }
  for (size_t i = 1; i < args.size(); ++i) {
    std::string arg = args[i];
    if (arg == "-o") arg = "--output";
    if (arg == "--help" || arg == "-h") {
      line.command_ = "help";
      return line;
    }
    if (!absl::StartsWith(arg, "--")) {
      if (absl::StartsWith(arg, "-") && arg.size() > 1)
        return absl::InvalidArgumentError(
            absl::StrCat("no flag ", arg, "; see 'tilewright --help'"));
      line.positional_.push_back(arg);
      continue;
    }
    const size_t equals = arg.find('=');
    const std::string name = arg.substr(
        2, equals == std::string::npos ? std::string::npos : equals - 2);
    TW_ASSIGN_OR_RETURN(const Flag flag, FindFlag(name, line.command_));
    if (flag.value == Value::kNone) {
      if (equals != std::string::npos)
        return absl::InvalidArgumentError(
            absl::StrCat("--", name, " takes no value"));
      line.values_[name].push_back("");
      continue;
    }
    std::string value;
    if (equals != std::string::npos) {
      value = arg.substr(equals + 1);
    } else if (i + 1 < args.size() && !absl::StartsWith(args[i + 1], "--")) {
      value = args[++i];
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " needs a value: --", name, "=..."));
    }
    TW_RETURN_IF_ERROR(CheckValue(flag, value));
    line.values_[name].push_back(std::move(value));
  }
  return line;
}

std::string CommandLine::Get(const std::string& flag,
                             std::string otherwise) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? otherwise : found->second.back();
}

int64_t CommandLine::GetInt(const std::string& flag, int64_t otherwise) const {
  int64_t value = otherwise;
  if (Has(flag)) (void)absl::SimpleAtoi(Get(flag), &value);
  return value;
}

double CommandLine::GetDouble(const std::string& flag, double otherwise) const {
  double value = otherwise;
  if (Has(flag)) (void)absl::SimpleAtod(Get(flag), &value);
  return value;
}

std::vector<std::string> CommandLine::All(const std::string& flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::string Usage() {
  std::string out = "usage: tilewright COMMAND ...\n\n";
  for (const Command& command : kCommands) {
    if (command.missing != nullptr) continue;
    absl::StrAppend(&out, "  tilewright ", command.name,
                    *command.arguments ? " " : "", command.arguments,
                    "\n      ", command.summary, "\n");
  }
  absl::StrAppend(
      &out,
      "\nHow to compile (every command that takes an .onnx):\n"
      "  --target=cpu[:x86-64-v2|v3|v4|v4-vnni|v4-bf16|v4-amx]  default: this "
      "CPU\n"
      "  --spec=NAME|FILE                       device spec instead of the "
      "target's own\n"
      "  --connect=tilegraph|register|none      groups joined tile by tile "
      "too, elementwise\n"
      "                                         consumers in registers "
      "(default), or every operator alone\n"
      "  --connect-search=paper|greedy          edge by edge (default), or "
      "groups grown one by one\n"
      "  --cost=time|traffic                    what joins are priced by: time "
      "(default), or the bytes\n"
      "                                         that leave the caches of a "
      "core\n"
      "  --records=DB                           with --connect=tilegraph: "
      "joins "
      "are measured before they\n"
      "                                         are taken, times kept in DB\n"
      "  --no-measure                           joins by the model alone\n"
      "  --level-cap=dram:BYTES                 as if memory held no more (K, "
      "M, "
      "G): whole tensors\n"
      "                                         stay outside, computes run in "
      "bands\n"
      "  --threads=N                            threads to run with; default: "
      "all the process may use\n"
      "  --dim=NAME=VALUE                       value of a dynamic dimension\n"
      "  --bind=NAME=VALUE|FILE                 makes an input a constant\n"
      "  --allow=winograd4,bf16                 less exact kernels: larger "
      "Winograd tiles, products of bf16\n"
      "run:       --data=DIR | --input=NAME=FILE  --output-dir=DIR  --check  "
      "--seed=N\n"
      "benchmark: --seconds=S  --seed=N\n"
      "           --profile                     time, rates and share of the "
      "roofline of each kernel\n"
      "           --trace=FILE.json             launches and tasks of every "
      "thread, for Perfetto\n"
      "           --report=FILE.html            the profile as a page that "
      "needs nothing else\n"
      "inspect:   --what=...  --group=N\n"
      "           --report=FILE.html|FILE.svg   the plan as a picture; as a "
      "page it says of every box why\n"
      "records:   --workload=FINGERPRINT        of ls and best: its first "
      "digits are enough\n"
      "           -o FILE  --verified           of export: not to stdout; "
      "only what is verified\n"
      "All:       --json\n");
  return out;
}

}  // namespace tilewright::tools
