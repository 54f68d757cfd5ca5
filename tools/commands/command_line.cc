#include "tools/commands/command_line.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "tools/commands/flag_effects.h"
#include "tools/commands/flag_table.h"

namespace tilewright::tools {
namespace {

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
     "--what=graph|plan|why|decisions|schedule|kernel|source|roofline", nullptr},
    {"conformance", "DIR...",
     "run every */model.onnx against its test_data_set_*", nullptr},
    {"devices", "", "the devices of this machine and what they can do",
     nullptr},
    {"tune", "MODEL.onnx --records=DB",
     "search for faster schedules; --records=DB then compiles with them",
     nullptr},
    {"records", "ls|best|stats|merge|export|import DB ...",
     "look into tuning records, share them", nullptr},
};

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
        "no command '", args[0], "'",
        Suggestion(args[0], names, "", "; see 'tilewright --help'")));
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
    const bool alone = flag.value == Flag::Value::kNone ||
                       flag.value == Flag::Value::kOptional;
    if (alone && equals == std::string::npos) {
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
  TW_RETURN_IF_ERROR(CheckEffects(line));
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
  absl::StrAppend(&out,
                  R"(
How to compile (every command that takes an .onnx):
  --target=cpu[:x86-64-v2|v3|v4|v4-vnni|v4-bf16]  default: this CPU
  --spec=NAME|FILE                       device spec instead of the target's own
  --threads=N                            threads to plan for, and to run with; default: the cores of
                                         the device spec, and all the process may use
  --connect=tilegraph|register|none      groups fused tile by tile too (default), elementwise
                                         consumers in registers alone, or every operator alone
  --level-cap=dram:BYTES                 as if memory held no more (K, M, G): whole tensors stay
                                         outside, computes run in bands
  --dim=NAME=VALUE                       value of a dynamic dimension
  --bind=NAME=VALUE|FILE                 makes an input a constant
  --allow=winograd4,bf16                 less exact kernels: larger Winograd tiles, products of bf16
  --decisions=FILE                       schedules as FILE says: 'inspect --what=decisions', edited
  --records=DB                           schedules that were measured to be faster than the rules'
  --nearest                              where DB has none, what it decided for the nearest shape
With --connect=tilegraph, the default:
  --connect-search=edges|greedy          edge by edge (default), or groups grown one by one
  --cost=time|traffic                    what is compared: time (default), or the bytes that leave the
                                         caches of a core
  --records=DB                           fuses where it was measured to pay, too, by the times in DB;
                                         elsewhere the cost model decides
  --measure[=SECONDS]                    what DB does not have is measured, for so long at most (180),
                                         and kept there
run:       --data=DIR | --input=NAME=FILE  --output-dir=DIR  --check  --seed=N
           (a .tw takes --threads and these)
benchmark: --seconds=S  --seed=N
           --profile[=all]               time, rates and share of the roofline of the 20 longest
                                         kernels, or of all
           --trace=FILE.json             launches and tasks of every thread, for Perfetto
           --report=FILE.html            the profile as a page that needs nothing else
inspect:   --what=...  --group=N         one group, with why, decisions, schedule, kernel or source
           --report=FILE.html|FILE.svg   the plan as a picture; as a page it says of every box why
tune:      --trials=N  --time=SECONDS    of all kernels together (64 for each)
           --optimizer=evolution|annealing|contextual|random|grid  --crossover
           --cost-model=gbt|forest|random
           --scheduler=gradient|roundrobin
           --seed=N                      the same command with the same seed goes on where it was
           --trace=FILE.jsonl            a line a round
records:   --workload=FINGERPRINT        of ls and best: its first digits are enough
           -o FILE  --verified           of export: not to stdout; only what is verified
All:       --json
A flag that would have no effect is an error, which says why.
)");
  return out;
}

}  // namespace tilewright::tools
