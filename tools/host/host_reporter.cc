#include "tools/host/host_reporter.h"

namespace tilewright::tools {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

double Time(const Run& run) {
  const double seconds =
      run.threads > 1 ? run.real_accumulated_time : run.cpu_accumulated_time;
  return seconds / static_cast<double>(run.iterations);
}

}  // namespace

const Run& BestRun(const std::vector<Run>& runs) {
  const Run* best = &runs.front();
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration) continue;
    if (best->run_type != Run::RT_Iteration || Time(run) < Time(*best)) {
      best = &run;
    }
  }
  return *best;
}

void HostReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) benchmarks_->Take(run);
  if (quiet_ || runs.empty()) return;
  if (all_) {
    ConsoleReporter::ReportRuns(runs);
  } else if (runs.front().run_type == Run::RT_Iteration) {
    ConsoleReporter::ReportRuns({BestRun(runs)});
  }
}

}  // namespace tilewright::tools
