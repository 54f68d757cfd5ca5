// The reports of `tune`: a line a round on stderr, a JSON line a round in a
// file, and a table at the end.
#ifndef TILEWRIGHT_TOOLS_COMMANDS_TUNE_REPORT_H_
#define TILEWRIGHT_TOOLS_COMMANDS_TUNE_REPORT_H_

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "search/tune_tasks.h"
#include "tools/commands/command_line.h"
#include "tools/commands/tune_tasks.h"

namespace tilewright::tools {

class TuneReport {
 public:
  // `trials`, `seconds`: of the whole run. `tasks` must outlive it.
  TuneReport(const CommandLine& line, const std::vector<TuneTask>& tasks,
             int trials, double seconds);
  ~TuneReport();

  // Opens --trace=FILE, if it is given.
  absl::Status Open();
  // An error if the trace cannot be written.
  absl::Status Round(const search::RoundOfTask& round);
  // The table of all tasks, for stdout: with --json an object.
  std::string Summary() const;

 private:
  const CommandLine& line_;
  const std::vector<TuneTask>& tasks_;
  const int trials_;
  const double seconds_;
  std::FILE* trace_ = nullptr;
};

}  // namespace tilewright::tools

#endif  // TILEWRIGHT_TOOLS_COMMANDS_TUNE_REPORT_H_
