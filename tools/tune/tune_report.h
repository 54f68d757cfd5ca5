// Tells how `tune` goes on while it runs: on a terminal a picture of a few
// lines that is drawn again after every round, else a line a round, both on
// stderr; for programs and for the page (tune_page.h) a trace of JSON lines;
// and a table at the end.
#ifndef TILEWRIGHT_TOOLS_TUNE_TUNE_REPORT_H_
#define TILEWRIGHT_TOOLS_TUNE_TUNE_REPORT_H_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "measure/worker/pool/process_pool_options.h"
#include "search/rank_in_model.h"
#include "search/tune_tasks.h"
#include "tools/page/json.h"
#include "tools/tune/finals.h"
#include "tools/tune/model_tasks.h"
#include "tools/tune/tune_options.h"

namespace tilewright::tools {

struct TuneReportOptions {
  std::string title;   // of the model
  bool quiet = false;  // no lines on stderr
  std::string trace;   // a file; empty: none
  int trials = 0;      // of the whole run
  double seconds = 0;
  // The work that the workers have done so far.
  std::function<measure::PoolStats()> pool;
};

class TuneReport {
 public:
  // `tasks` must outlive it.
  TuneReport(TuneReportOptions options, const std::vector<ModelTask>& tasks);
  ~TuneReport();
  TuneReport(const TuneReport&) = delete;
  TuneReport& operator=(const TuneReport&) = delete;

  // Opens the trace and writes what is searched. Its errors, and those of all
  // below: the trace cannot be written.
  absl::Status Open(const TuneOptions& how);
  absl::Status Round(const search::RoundOfTask& round);
  // A line about what goes on, as "comparing winners"; empty: none.
  void Progress(const std::string& text);
  absl::Status Model(const search::ModelComparison& comparison);
  absl::Status Finals(const std::vector<Final>& finals);
  // A table of all tasks, for stdout; as JSON an array.
  std::string Summary(const std::vector<Final>& finals, bool json) const;

 private:
  // Shares of the CPU time so far, that of this process being the search's.
  struct Shares {
    double search = 0, build = 0, verify = 0, measure = 0;
  };
  Shares SharesSoFar() const;
  double SecondsLeft(const search::RoundOfTask& round) const;
  // Kernels' times in a run of the model, ns: by rule, with the best so far.
  double ModelNs(bool best) const;
  std::string Line(const search::RoundOfTask& round) const;
  std::string Picture(const search::RoundOfTask& round) const;
  absl::Status Write(const Json& line);

  const TuneReportOptions options_;
  const std::vector<ModelTask>& tasks_;
  const int64_t began_cpu_ns_;
  const bool terminal_;
  int drawn_lines_ = 0;
  std::vector<size_t> told_;  // by task: trials that are in the trace
  std::FILE* trace_ = nullptr;
};

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_TUNE_TUNE_REPORT_H_
