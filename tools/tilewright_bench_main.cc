// tilewright_bench: what this host can do. Microbenchmarks, a device spec, a
// page with plots.
#include <time.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/allocation.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/option_parser.h"
#include "base/status_macros.h"
#include "benchmark/benchmark.h"
#include "compiler/kernels/version.h"
#include "tools/host/host_benchmarks.h"
#include "tools/host/host_facts.h"
#include "tools/host/host_page.h"
#include "tools/host/host_reporter.h"
#include "tools/host/measured_spec.h"
#include "tools/page/json.h"

namespace tilewright::tools {
namespace {

constexpr char kUsage[] =
    "usage: tilewright_bench [--threads=N] [--spec-out=FILE] "
    "[--report=FILE.html] [--json] [--benchmark_...]\n\n"
    "Measures peak arithmetic, bandwidth and latency of each level of memory, "
    "how long the outermost\ncache keeps what nobody uses, the costs of "
    "launches and processes, how many repeats are enough, and "
    "what running side by side\ncosts. About 20 seconds; leave the machine "
    "alone meanwhile.\n\n"
    "  --spec-out=FILE       this host's device spec, for tilewright "
    "--spec=FILE\n"
    "  --report=FILE.html    one page with plots that needs nothing else\n"
    "  --json                all results on stdout, as one object\n"
    "  --threads=N           what 'all threads' means; default: all the "
    "process may use\n"
    "  --benchmark_filter=RE, --benchmark_list_tests, --benchmark_out=FILE, "
    "...: Google Benchmark's\n";

struct Flags {
  std::string spec_out, report;
  bool json = false, help = false, version = false;
  int threads = 0;
  std::vector<std::string> benchmark;
};

absl::StatusOr<Flags> ParseFlags(const std::vector<std::string>& arguments) {
  Flags flags;
  OptionParser parser("", "see 'tilewright_bench --help'");
  parser.Text("spec-out", &flags.spec_out);
  parser.Text("report", &flags.report);
  parser.Number("threads", &flags.threads, 1);
  parser.Flag("json", &flags.json);
  parser.Flag("help", &flags.help);
  parser.Alias('h', "help");
  parser.Flag("version", &flags.version);
  parser.PassOn("--benchmark_", &flags.benchmark);
  parser.PassOn("--v=", &flags.benchmark);
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> rest,
                      parser.Parse(arguments));
  if (!rest.empty())
    return absl::InvalidArgumentError(absl::StrCat(
        "no argument '", rest[0], "'; see 'tilewright_bench --help'"));
  return flags;
}

bool HasFlag(const Flags& flags, const char* name) {
  for (const std::string& flag : flags.benchmark) {
    if (absl::StartsWith(flag, absl::StrCat("--benchmark_", name, "="))) {
      return true;
    }
  }
  return false;
}

// "2026-11-21", UTC.
std::string Today(Clock& clock) {
  const time_t seconds = static_cast<time_t>(clock.UnixNs() / 1000000000);
  tm date;
  gmtime_r(&seconds, &date);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &date);
  return text;
}

absl::Status RunAll(const Flags& flags, const std::string& command) {
  TW_ASSIGN_OR_RETURN(const DeviceSpec structure, HostSpec());
  const int threads = flags.threads > 0
                          ? flags.threads
                          : static_cast<int>(structure.unit().cores());
  HostFacts facts;
  facts.command = command;
  facts.date = Today(*RealClock());
  HostBenchmarks benchmarks(structure, threads, &facts);
  HostReporter reporter(&benchmarks, HasFlag(flags, "repetitions"), flags.json);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  TW_ASSIGN_OR_RETURN(const DeviceSpec spec, MeasuredSpec(structure, facts));
  if (!flags.spec_out.empty()) {
    TW_RETURN_IF_ERROR(WriteFileAtomically(
        UserPath(flags.spec_out),
        absl::StrCat("# proto-file: backends/spec/device_spec.proto\n"
                     "# proto-message: tilewright.DeviceSpec\n",
                     SpecText(spec))));
  }
  if (!flags.report.empty()) {
    TW_RETURN_IF_ERROR(WriteFileAtomically(
        UserPath(flags.report),
        HostPage(facts, spec, absl::StrCat("tilewright ", kVersion))));
  }
  if (flags.json) {
    Json json;
    AppendHostFacts(facts, json);
    std::printf("%s\n", json.text().c_str());
  }
  return absl::OkStatus();
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<Flags> parsed = ParseFlags(arguments);
  if (!parsed.ok()) {
    ReportStatus("tilewright_bench", parsed.status());
    return 2;
  }
  const Flags& flags = *parsed;
  if (flags.help || flags.version) {
    if (flags.help) std::fputs(kUsage, stdout);
    if (flags.version) std::printf("tilewright_bench %s\n", kVersion);
    return 0;
  }
  // Short and several: the best of a few windows says what can be.
  std::vector<std::string> args = {"tilewright_bench"};
  if (!HasFlag(flags, "min_time")) args.push_back("--benchmark_min_time=0.01");
  if (!HasFlag(flags, "repetitions")) {
    args.push_back("--benchmark_repetitions=3");
  }
  args.insert(args.end(), flags.benchmark.begin(), flags.benchmark.end());
  std::vector<char*> pointers;
  for (std::string& arg : args) pointers.push_back(&arg[0]);
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  benchmark::Initialize(&count, pointers.data());
  if (count > 1) {
    std::fprintf(stderr,
                 "tilewright_bench: Google Benchmark has no flag '%s'; see "
                 "'tilewright_bench --help'\n",
                 pointers[1]);
    return 2;
  }
  const std::string command =
      absl::StrCat("tilewright_bench", arguments.empty() ? "" : " ",
                   absl::StrJoin(arguments, " "));
  return ReportStatus("tilewright_bench", CatchExceptions("measuring", [&] {
                        return RunAll(flags, command);
                      }));
}

}  // namespace
}  // namespace tilewright::tools

int main(int argc, char** argv) {
  // The cost of starting a process is measured with this program itself.
  if (argc == 2 && std::strcmp(argv[1], "--exit") == 0) return 0;
  return tilewright::tools::Main({argv + 1, argv + argc});
}
