#include "tools/commands/flag_effects.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tilewright::tools {
namespace {

bool IsOnnx(const CommandLine& line) {
  return line.command() == "conformance" || line.positional().empty() ||
         absl::EndsWith(line.positional()[0], ".onnx");
}

// Whether the file is the trace of a search.
bool IsTrace(const CommandLine& line) {
  return !line.positional().empty() &&
         absl::EndsWith(line.positional()[0], ".jsonl");
}

// The value of inspect's --what.
std::string What(const CommandLine& line) {
  return line.Get("what", IsOnnx(line) ? "plan" : "program");
}

// Whether --target, if it is given, names a CPU.
bool IsForCpu(const CommandLine& line) {
  return absl::StartsWith(line.Get("target", "cpu"), "cpu");
}

bool IsOneOf(const std::string& text, std::initializer_list<const char*> all) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

// Whether the action of `records` is one of these.
bool ActionIs(const CommandLine& line,
              std::initializer_list<const char*> actions) {
  return line.positional().empty() || IsOneOf(line.positional()[0], actions);
}

struct Rule {
  const char* flags;     // space-separated
  const char* commands;  // space-separated; empty: all that take the flag
  bool (*has_effect)(const CommandLine& line);
  const char* otherwise;  // after "--FLAG "
};

constexpr Rule kRules[] = {
    // A .tw is compiled, and holds no expressions.
    {"target spec connect dim bind allow decisions records nearest measure "
     "connect-search cost level-cap",
     "run benchmark", IsOnnx,
     "has no effect on a .tw, which is compiled already: give it to "
     "'tilewright compile'"},
    {"connect dim bind allow decisions records nearest measure connect-search "
     "cost level-cap",
     "inspect", IsOnnx,
     "has no effect on a .tw, which is compiled already: inspect the .onnx"},
    {"target spec threads", "inspect",
     [](const CommandLine& line) {
       return IsOnnx(line) || What(line) == "roofline";
     },
     "has no effect on a .tw but with --what=roofline: add that, or inspect "
     "the .onnx"},
    {"what", "inspect",
     [](const CommandLine& line) {
       return IsOnnx(line) || IsOneOf(What(line), {"program", "roofline"});
     },
     "of a .tw is program or roofline, all that it still knows: inspect the "
     ".onnx"},
    {"what", "inspect",
     [](const CommandLine& line) {
       return !IsOnnx(line) || What(line) != "program";
     },
     "=program is of a .tw: compile the .onnx first, or leave it out"},
    {"check", "run", IsOnnx,
     "needs the .onnx: a .tw no longer holds the expressions"},
    // The model as it was imported.
    {"target spec connect threads allow decisions records nearest measure "
     "connect-search cost level-cap",
     "inspect",
     [](const CommandLine& line) {
       return !IsOnnx(line) || What(line) != "graph";
     },
     "has no effect with --what=graph, the model before it is compiled: leave "
     "it out"},
    // One flag beside another.
    {"target", "", [](const CommandLine& line) { return !line.Has("spec"); },
     "has no effect beside --spec, which names the target: leave one of them "
     "out"},
    {"measure connect-search cost", "",
     [](const CommandLine& line) {
       return line.Get("connect", "tilegraph") == "tilegraph";
     },
     "has no effect without --connect=tilegraph, the default: leave one of "
     "them out"},
    {"measure", "", [](const CommandLine& line) { return line.Has("records"); },
     "needs --records=DB, where what it measures is kept: add that"},
    {"daemon", "", [](const CommandLine& line) { return line.Has("records"); },
     "needs --records=DB, to which its records are added: add that"},
    {"tls priority", "",
     [](const CommandLine& line) { return line.Has("daemon"); },
     "is for a daemon: add --daemon=ADDRESS, or leave it out"},
    {"nearest", "", [](const CommandLine& line) { return line.Has("records"); },
     "needs --records=DB, whose tables it lends: add that"},
    {"measure", "",
     [](const CommandLine& line) {
       return !line.Has("spec") && line.Get("target", "cpu") == "cpu";
     },
     "needs the machine that is compiled for: leave out --target and --spec, "
     "or --measure, which uses what --records has of that machine"},
    {"allow", "",
     [](const CommandLine& line) {
       const std::vector<std::string> all = line.All("allow");
       return line.Get("connect") != "none" ||
              std::none_of(all.begin(), all.end(), [](const auto& list) {
                return absl::StrContains(list, "winograd4");
              });
     },
     "=winograd4 has no effect with --connect=none, which has no Winograd "
     "kernels: leave one of them out"},
    {"flush-denormals", "", IsForCpu,
     "has no effect on GPUs, which lose no time on denormals: leave it out"},
    {"cost", "", IsForCpu,
     "has no effect on GPUs, whose plans are compared by time: leave it out"},
    {"allow", "",
     [](const CommandLine& line) {
       const std::vector<std::string> all = line.All("allow");
       return IsForCpu(line) ||
              std::none_of(all.begin(), all.end(), [](const auto& list) {
                return absl::StrContains(list, "winograd4");
              });
     },
     "=winograd4 has no effect on GPUs, which have no Winograd kernels: leave "
     "it out"},
    {"seed", "run", [](const CommandLine& line) { return !line.Has("data"); },
     "has no effect beside --data, which gives every input: leave one of them "
     "out"},
    {"group", "inspect",
     [](const CommandLine& line) {
       return IsOneOf(What(line),
                      {"why", "decisions", "schedule", "kernel", "source"});
     },
     "has no effect but with --what=why, decisions, schedule, kernel or "
     "source: add one "
     "of these"},
    // A search begins with the rules, on the machine that it measures on.
    {"measure decisions nearest level-cap", "tune",
     [](const CommandLine&) { return false; },
     "has no effect on a search, which begins with the rules: leave it out"},
    {"target spec", "tune",
     [](const CommandLine& line) {
       return !line.Has("spec") && IsOneOf(line.Get("target"), {"cpu", "cuda"});
     },
     "has no effect on a search, which measures on this machine: leave it "
     "out, or give --target=cuda for its GPU"},
    {"threads", "tune", IsForCpu,
     "has no effect on a search for a GPU, of which a kernel has all: leave it "
     "out"},
    {"daemon", "tune", IsForCpu,
     "measures on CPUs; a search for a GPU measures on this machine: leave it "
     "out"},
    {"policy", "tune",
     [](const CommandLine& line) {
       return IsForCpu(line) ||
              IsOneOf(line.Get("policy"), {"rules", "tilegraph"});
     },
     "=template and sketch have no schedules for GPUs yet: leave it out"},
    {"cost-model", "tune",
     [](const CommandLine& line) {
       return !IsOneOf(line.Get("optimizer"), {"random", "grid"});
     },
     "has no effect with --optimizer=random or grid, which predict nothing: "
     "leave one of them out"},
    {"cost-model", "tune",
     [](const CommandLine& line) {
       return line.Get("optimizer") != "contextual" ||
              line.Get("cost-model") == "forest";
     },
     "of --optimizer=contextual is forest, which tells variances: leave it "
     "out"},
    {"crossover", "tune",
     [](const CommandLine& line) {
       return line.Get("optimizer", "evolution") == "evolution";
     },
     "is of --optimizer=evolution: leave one of them out"},
    {"report", "inspect",
     [](const CommandLine& line) {
       return IsTrace(line) ||
              (IsOnnx(line) && IsOneOf(What(line), {"plan", "why"}));
     },
     "draws the plan of an .onnx, --what=plan or why, or the trace of a "
     "search, a .jsonl file"},
    // Actions on a store.
    {"output verified", "records",
     [](const CommandLine& line) { return ActionIs(line, {"export"}); },
     "has an effect on 'records export' alone: leave it out"},
    {"workload", "records",
     [](const CommandLine& line) {
       return ActionIs(line, {"ls", "best"});
     },
     "has an effect on 'records ls' and 'records best' alone: leave it out"},
    {"json", "records",
     [](const CommandLine& line) {
       return line.positional().empty() || line.positional()[0] != "export";
     },
     "has no effect on 'records export', which prints JSON lines: leave it "
     "out"},
};

bool Applies(const Rule& rule, const std::string& command) {
  const std::vector<std::string> commands =
      absl::StrSplit(rule.commands, ' ', absl::SkipEmpty());
  return commands.empty() ||
         std::find(commands.begin(), commands.end(), command) != commands.end();
}

}  // namespace

absl::Status CheckEffects(const CommandLine& line) {
  for (const Rule& rule : kRules) {
    if (!Applies(rule, line.command())) continue;
    for (const absl::string_view flag : absl::StrSplit(rule.flags, ' ')) {
      if (!line.Has(std::string(flag)) || rule.has_effect(line)) continue;
      const char* const space = *rule.otherwise == '=' ? "" : " ";
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, space, rule.otherwise));
    }
  }
  return absl::OkStatus();
}

}  // namespace tilewright::tools
