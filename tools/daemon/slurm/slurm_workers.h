// Workers as jobs of Slurm: as many as the queue has work for. A job is one
// worker, which ends when it has had no work for a while; what is waiting in
// Slurm's own queue when there is no work any more is cancelled. Jobs that run
// out of time, are preempted or cancelled lose nothing: their leases run out.
#ifndef TILEWRIGHT_TOOLS_DAEMON_SLURM_SLURM_WORKERS_H_
#define TILEWRIGHT_TOOLS_DAEMON_SLURM_SLURM_WORKERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright::daemon {

struct SlurmOptions {
  std::string name;                  // of its jobs, by which they are known
  std::string command;               // of a job, for a shell: the worker
  std::vector<std::string> options;  // of sbatch, beside these
  int most_workers = 16;
  int64_t tasks_of_a_worker = 32;  // that wait for each, at least
};

struct SlurmJobs {
  int pending = 0, running = 0;
};

class SlurmWorkers {
 public:
  explicit SlurmWorkers(SlurmOptions options) : options_(std::move(options)) {}

  // Starts jobs until there are enough for so many tasks that wait, or cancels
  // those that wait themselves if there are none. Returns how many there are
  // then. Unavailable, with what the program said: squeue, sbatch or scancel
  // failed, or is not there.
  absl::StatusOr<SlurmJobs> Adjust(int64_t waiting_tasks);

 private:
  absl::StatusOr<SlurmJobs> Jobs();

  const SlurmOptions options_;
};

}  // namespace tilewright::daemon

#endif  // TILEWRIGHT_TOOLS_DAEMON_SLURM_SLURM_WORKERS_H_
