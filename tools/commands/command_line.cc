#include "tools/commands/command_line.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "tools/commands/flag_effects.h"
#include "tools/commands/flag_table.h"

namespace tilewright::tools {
namespace {

constexpr char kSeeHelp[] = "see 'tilewright --help'";

struct Command {
  const char* name;
  const char* arguments;
  const char* summary;
};

constexpr Command kCommands[] = {
    {"compile", "MODEL.onnx -o OUT.tw",
     "compile a model for this CPU, or for --target"},
    {"run", "MODEL", "run a .onnx or .tw on given or random inputs"},
    {"benchmark", "MODEL", "latencies, GFLOP/s and share of the roofline"},
    {"inspect", "MODEL",
     "--what=graph|plan|why|decisions|schedule|kernel|source|roofline"},
    {"conformance", "DIR...",
     "run every */model.onnx against its test_data_set_*"},
    {"devices", "", "the devices of this machine and what they can do"},
    {"tune", "MODEL.onnx --records=DB",
     "search for faster schedules; --records=DB then compiles with them"},
    {"records", "ls|best|stats|merge|export|import DB ...",
     "look into tuning records, share them"},
};

}  // namespace

absl::StatusOr<CommandLine> CommandLine::Parse(
    const std::vector<std::string>& args) {
  CommandLine line;
  if (args.empty())
    return absl::InvalidArgumentError(absl::StrCat("no command; ", kSeeHelp));
  line.command_ = args[0];
  if (args[0] == "--version" || args[0] == "--help" || args[0] == "-h" ||
      args[0] == "help") {
    line.command_ = args[0] == "--version" ? "version" : "help";
    return line;
  }
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  if (std::find(names.begin(), names.end(), args[0]) == names.end()) {
    const std::string suggestion = Suggestion(args[0], names);
    return absl::InvalidArgumentError(absl::StrCat(
        "no command '", args[0], "'",
        suggestion.empty() ? absl::StrCat("; ", kSeeHelp) : suggestion));
  }
  bool help = false;
  OptionParser parser(line.command_, kSeeHelp);
  parser.Flag("help", &help);
  parser.Alias('h', "help");
  parser.Alias('o', "output");
  for (const Flag& flag : FlagsOf(line.command_)) {
    const auto take = [&line, flag](absl::string_view value) {
      line.values_[flag.name].emplace_back(value);
      return CheckValue(flag, value);
    };
    flag.needs_value() ? parser.Value(flag.name, take)
                       : parser.Optional(flag.name, take);
  }
  TW_ASSIGN_OR_RETURN(line.positional_,
                      parser.Parse(absl::MakeConstSpan(args).subspan(1)));
  if (help) {
    line.command_ = "help";
    return line;
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
    absl::StrAppend(&out, "  tilewright ", command.name,
                    *command.arguments ? " " : "", command.arguments,
                    "\n      ", command.summary, "\n");
  }
  absl::StrAppend(&out,
                  R"(
How to compile (every command that takes an .onnx):
  --target=cpu[:x86-64-v2|v3|v4|v4-vnni|v4-bf16]  default: this CPU; cuda: the GPU of this machine
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
           --flush-denormals             numbers below 1.2e-38 may count as zero: where a model has
                                         many, some CPUs need a hundred cycles for each
benchmark: --seconds=S  --seed=N  --flush-denormals
           --profile[=all]               time, rates and share of the roofline of the 20 longest
                                         kernels, or of all
           --trace=FILE.json             launches and tasks of every thread, for Perfetto
           --report=FILE.html            the profile as a page that needs nothing else
inspect:   --what=...  --group=N         one group, with why, decisions, schedule, kernel or source
           --report=FILE.html|FILE.svg   the plan as a picture; as a page it says of every box why;
                                         of FILE.jsonl, the trace of a search, its page
tune:      --trials=N  --time=SECONDS    of all kernels together (64 for each)
           --policy=rules|tilegraph|template|sketch   which candidates there are
           --keep-bits                   only candidates that give the untuned kernel's very bits
           --optimizer=evolution|annealing|contextual|random|grid  --crossover
           --cost-model=gbt|forest|random
           --scheduler=gradient|roundrobin
           --seed=N                      the same command with the same seed goes on where it was
           --trace=FILE.jsonl            a line a round, and for every comparison
           --report=FILE.html            the search as a page that needs nothing else
           --daemon=ADDRESS[,ADDRESS]    candidates are measured by the workers of 'tilewrightd serve'
           --tls=DIR                     of a daemon at tcp:HOST:PORT
           --priority=N                  of its job there: the largest first
records:   --workload=FINGERPRINT        of ls and best: its first digits are enough
           -o FILE  --verified           of export: not to stdout; only what is verified
All:       --json
A flag that would have no effect is an error, which says why.
)");
  return out;
}

}  // namespace tilewright::tools
