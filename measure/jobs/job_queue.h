// The journal of a tuning daemon: jobs, the tasks they are made of, who works
// on them, and what came of it, in one SQLite file (WAL). Requests and results
// are bytes to it. Every call is one transaction: what it acknowledged is there
// after kill -9 at any moment, and nothing is there in part.
//
//   client:  OpenJob -> AddTasks ... -> CloseJob | CancelJob;  Events
//   worker:  Lease -> Heartbeat ... , Complete each task | GiveBack
//
//   task:    waiting -> leased -> done
//               ^---------'  the lease ran out or was given back
//
// - A task is known by its id: jobs that ask for the same one share it, and one
//   that was done before is done at once.
// - A result counts with the task's current lease alone. Leases are numbered
//   once and for all, so that one that was lost never comes back; a task is
//   done once.
// - A task whose worker was lost goes to another, alone, as it may be why; it
//   is given up after `most_losses`.
// - Time is the caller's, ns since 1970. A lease runs out when a time later
//   than its end is told.
//
// Errors are those of sqlite.h, and what each call says.
#ifndef TILEWRIGHT_MEASURE_JOBS_JOB_QUEUE_H_
#define TILEWRIGHT_MEASURE_JOBS_JOB_QUEUE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "measure/jobs/job_types.h"
#include "measure/record/sqlite.h"

namespace tilewright::measure {

struct JobQueueOptions {
  // Of a new file, which keeps it: the beginning of its leases' names. Another
  // one for every file whose results may meet.
  std::string name = "queue";
  int64_t lease_ns = 30'000'000'000;
  int most_losses = 3;
};

// Not thread-safe. One process at a time has the file open.
class JobQueue {
 public:
  // Opens or creates. Leases that were current stay so until lease_ns after
  // `now_ns`: their workers could not reach anybody meanwhile.
  static absl::StatusOr<std::unique_ptr<JobQueue>> Open(
      const std::string& path, const JobQueueOptions& options, int64_t now_ns);

  // The owner's open job with that key, with the priority and the budget of
  // now, or a new one.
  absl::StatusOr<JobStatus> OpenJob(const JobSpec& spec);
  // All of them or none; a task that the job has already stays. NotFound: the
  // owner has no such job; FailedPrecondition: it is not open;
  // ResourceExhausted: it would have too many; AlreadyExists: a task has the id
  // of another one, whose request is different.
  absl::Status AddTasks(const std::string& owner, int64_t job,
                        absl::Span<const TaskSpec> tasks);
  absl::Status CloseJob(const std::string& owner, int64_t job);
  // Tasks that no other job wants are dropped; what is leased is still recorded
  // when it comes. Of a job that is over: nothing.
  absl::Status CancelJob(const std::string& owner, int64_t job);
  absl::StatusOr<JobStatus> Job(const std::string& owner, int64_t job);
  absl::StatusOr<std::vector<JobStatus>> Jobs(const std::string& owner);
  // Of all owners, the newest first.
  absl::StatusOr<std::vector<JobStatus>> NewestJobs(int most);
  // Whether its last event is there already. False for no job.
  absl::StatusOr<bool> IsOver(int64_t job);
  // Events after that number, in order, at most so many.
  absl::StatusOr<std::vector<TaskEvent>> Events(const std::string& owner,
                                                int64_t job, int64_t after,
                                                int most);

  // Results of tasks that the owner asked for, of all its jobs, each once; in
  // order of their numbers, those after `after`. An empty class or group is
  // any.
  absl::StatusOr<std::vector<TaskEvent>> Results(
      const std::string& owner, const std::string& device_class,
      const std::string& group, int64_t after, int most);
  // What an owner measured elsewhere and wants to find here: kept by `id`, once
  // each, beside the results of tasks. All of them or none.
  // ResourceExhausted: the owner would have more than `most`.
  absl::Status Deposit(const std::string& owner,
                       absl::Span<const DepositSpec> deposits, int64_t most);
  // These, as Results does.
  absl::StatusOr<std::vector<TaskEvent>> Deposits(
      const std::string& owner, const std::string& device_class,
      const std::string& group, int64_t after, int most);

  // Up to `most` waiting tasks of one group for that worker.
  absl::StatusOr<LeaseOffer> Lease(const std::string& worker,
                                   const std::string& device_class, int most,
                                   int64_t now_ns);
  // Renews it. Whether a job still wants any of its tasks. NotFound: it ran
  // out, or all of it is done.
  absl::StatusOr<bool> Heartbeat(const std::string& lease, int64_t now_ns);
  // The worker that has the lease; empty if it is not current.
  absl::StatusOr<std::string> Holder(const std::string& lease);
  // OK: the result is on the disk, whatever it counts for.
  absl::StatusOr<Completion> Complete(const std::string& lease,
                                      const std::string& task,
                                      const std::string& result,
                                      int64_t now_ns);
  // The same for several, in this order: all are on the disk, or none.
  absl::StatusOr<std::vector<Completion>> CompleteAll(
      absl::Span<const Delivery> deliveries, int64_t now_ns);
  // Its tasks wait again. `lost`: something happened to the worker, which may
  // be a task's fault.
  absl::Status GiveBack(const std::string& lease, bool lost, int64_t now_ns);
  // Lets leases run out that are due. Whether any was.
  absl::StatusOr<bool> Expire(int64_t now_ns);

  // Tasks that wait for a worker, and a job wants.
  absl::StatusOr<int64_t> WaitingTasks();
  // Jobs that may get more tasks.
  absl::StatusOr<int64_t> OpenJobs();
  // Leases that are current.
  absl::StatusOr<int64_t> Leases();
  // Leases that ran out since the file was opened.
  int64_t leases_lost() const { return leases_lost_; }

 private:
  JobQueue(std::unique_ptr<Database> database, const JobQueueOptions& options)
      : database_(std::move(database)), options_(options) {}

  // job_queue.cc; within a transaction.
  absl::Status CheckOwner(const std::string& owner, int64_t job);
  absl::Status AddTask(int64_t job, const TaskSpec& task);
  absl::StatusOr<std::vector<JobStatus>> JobsWhere(const std::string& owner,
                                                   int64_t job);
  absl::StatusOr<std::vector<JobStatus>> JobsOf(Statement rows);
  absl::Status DropUnwanted();

  // job_leases.cc; within a transaction.
  absl::StatusOr<bool> ExpireDue(int64_t now_ns);
  absl::StatusOr<Completion> Deliver(const Delivery& delivery);
  absl::Status EndLease(int64_t lease, bool lost);
  absl::Status TellJobs(int64_t task);
  // 0: no lease of this file has such a name.
  int64_t NumberOf(const std::string& lease) const;

  std::unique_ptr<Database> database_;
  JobQueueOptions options_;
  int64_t leases_lost_ = 0;
};

}  // namespace tilewright::measure

#endif  // TILEWRIGHT_MEASURE_JOBS_JOB_QUEUE_H_
