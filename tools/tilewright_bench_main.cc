// tilewright_bench: what this host can do. Microbenchmarks, a device spec, a
// page with plots.
#include <time.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/spec/host_spec.h"
#include "backends/spec/load_spec.h"
#include "base/allocation.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "benchmark/benchmark.h"
#include "compiler/kernels/version.h"
#include "tools/host/host_benchmarks.h"
#include "tools/host/host_facts.h"
#include "tools/host/host_page.h"
#include "tools/host/host_reporter.h"
#include "tools/host/measured_spec.h"
#include "tools/page/json.h"
#include "tools/user_path.h"

namespace tilewright::tools {
namespace {

constexpr char kUsage[] =
    "usage: tilewright_bench [--threads=N] [--spec-out=FILE] "
    "[--report=FILE.html] [--json] [--benchmark_...]\n\n"
    "Measures peak arithmetic, bandwidth and latency of each level of memory, "
    "the costs of launches and\nprocesses, how many repeats are enough, and "
    "what running side by side costs. About 20 seconds; leave\nthe machine "
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
  std::string wrong;  // what cannot be understood
  std::vector<std::string> benchmark;
};

Flags ParseFlags(int argc, char** argv) {
  Flags flags;
  const auto value = [](const std::string& arg) {
    return arg.substr(arg.find('=') + 1);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (absl::StartsWith(arg, "--spec-out=") && value(arg) != "") {
      flags.spec_out = value(arg);
    } else if (absl::StartsWith(arg, "--report=") && value(arg) != "") {
      flags.report = value(arg);
    } else if (arg == "--json") {
      flags.json = true;
    } else if (arg == "--help" || arg == "-h") {
      flags.help = true;
    } else if (arg == "--version") {
      flags.version = true;
    } else if (absl::StartsWith(arg, "--threads=") &&
               absl::SimpleAtoi(value(arg), &flags.threads) &&
               flags.threads > 0) {
    } else if (absl::StartsWith(arg, "--benchmark_") ||
               absl::StartsWith(arg, "--v=")) {
      flags.benchmark.push_back(arg);
    } else if (flags.wrong.empty()) {
      flags.wrong = arg;
    }
  }
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

int Main(int argc, char** argv) {
  const Flags flags = ParseFlags(argc, argv);
  if (flags.help || flags.version) {
    if (flags.help) std::fputs(kUsage, stdout);
    if (flags.version) std::printf("tilewright_bench %s\n", kVersion);
    return 0;
  }
  if (!flags.wrong.empty()) {
    std::fprintf(stderr,
                 "tilewright_bench: no flag '%s'; see 'tilewright_bench "
                 "--help'\n",
                 flags.wrong.c_str());
    return 2;
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
      absl::StrJoin(std::vector<std::string>(argv + 1, argv + argc), " ");
  const absl::Status status = CatchExceptions("measuring", [&] {
    return RunAll(flags, command.empty() ? "tilewright_bench"
                                         : "tilewright_bench " + command);
  });
  if (status.ok()) return 0;
  std::fprintf(stderr, "tilewright_bench: %s\n",
               std::string(status.message()).c_str());
  return 1;
}

}  // namespace
}  // namespace tilewright::tools

int main(int argc, char** argv) {
  // The cost of starting a process is measured with this program itself.
  if (argc == 2 && std::strcmp(argv[1], "--exit") == 0) return 0;
  return tilewright::tools::Main(argc, argv);
}
