#include "tools/daemon/slurm/slurm_workers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/ceil_div.h"
#include "base/status_macros.h"
#include "tools/daemon/slurm/run_program.h"

namespace tilewright::daemon {

absl::StatusOr<SlurmJobs> SlurmWorkers::Jobs() {
  TW_ASSIGN_OR_RETURN(
      const std::string states,
      RunProgram({"squeue", "--noheader", "--me",
                  absl::StrCat("--name=", options_.name), "--format=%T"}));
  SlurmJobs jobs;
  for (const auto state : absl::StrSplit(states, '\n', absl::SkipWhitespace()))
    ++(state == "PENDING" ? jobs.pending : jobs.running);
  return jobs;
}

absl::StatusOr<SlurmJobs> SlurmWorkers::Adjust(int64_t waiting_tasks) {
  TW_ASSIGN_OR_RETURN(SlurmJobs jobs, Jobs());
  if (waiting_tasks == 0 && jobs.pending > 0) {
    TW_RETURN_IF_ERROR(RunProgram({"scancel", "--me", "--state=PENDING",
                                   absl::StrCat("--name=", options_.name)})
                           .status());
    jobs.pending = 0;
  }
  // Running ones have work of their own, as long as they run.
  const int64_t wanted =
      std::min<int64_t>(options_.most_workers - jobs.running,
                        CeilDiv(waiting_tasks, options_.tasks_of_a_worker));
  for (; jobs.pending < wanted; ++jobs.pending) {
    std::vector<std::string> command = {
        "sbatch", "--parsable", absl::StrCat("--job-name=", options_.name)};
    command.insert(command.end(), options_.options.begin(),
                   options_.options.end());
    command.push_back(absl::StrCat("--wrap=exec ", options_.command));
    TW_RETURN_IF_ERROR(RunProgram(command).status());
  }
  return jobs;
}

}  // namespace tilewright::daemon
