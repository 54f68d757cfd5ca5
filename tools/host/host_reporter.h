#ifndef TILEWRIGHT_TOOLS_HOST_HOST_REPORTER_H_
#define TILEWRIGHT_TOOLS_HOST_HOST_REPORTER_H_

#include <vector>

#include "benchmark/benchmark.h"
#include "tools/host/host_benchmarks.h"

namespace tilewright::tools {

// Hands every run to `benchmarks`, which outlives it, and prints the best of
// the repetitions of each, or with `all` every line that Google Benchmark
// would; nothing if `quiet`.
class HostReporter : public benchmark::ConsoleReporter {
 public:
  HostReporter(HostBenchmarks* benchmarks, bool all, bool quiet)
      : ConsoleReporter(OO_Tabular),
        benchmarks_(benchmarks),
        all_(all),
        quiet_(quiet) {}

  bool ReportContext(const Context& context) override {
    return quiet_ || ConsoleReporter::ReportContext(context);
  }
  void ReportRuns(const std::vector<Run>& runs) override;

 private:
  HostBenchmarks* const benchmarks_;
  const bool all_, quiet_;
};

// The fastest run, by the clock that counts for it. REQUIRES: there is one.
const benchmark::BenchmarkReporter::Run& BestRun(
    const std::vector<benchmark::BenchmarkReporter::Run>& runs);

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_HOST_HOST_REPORTER_H_
