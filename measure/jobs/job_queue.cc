#include "measure/jobs/job_queue.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/jobs/job_schema.h"
#include "measure/jobs/prepared.h"

namespace tilewright::measure {
namespace {

using State = JobStatus::State;

constexpr char kOpen[] =
    "SELECT id FROM jobs WHERE owner = ? AND key = ? AND state = 0";

// CROSS JOIN: what is leased is little, and comes first.
constexpr char kJobColumns[] = R"(
SELECT id, owner, key, title, priority, most_tasks, state,
  (SELECT count(*) FROM wanted WHERE job = jobs.id),
  (SELECT count(event) FROM wanted WHERE job = jobs.id),
  (SELECT count(*) FROM tasks t CROSS JOIN wanted w ON w.task = t.number
   WHERE t.state = 1 AND w.job = jobs.id)
FROM jobs )";

}  // namespace

absl::StatusOr<std::unique_ptr<JobQueue>> JobQueue::Open(
    const std::string& path, const JobQueueOptions& options, int64_t now_ns) {
  TW_ASSIGN_OR_RETURN(
      std::unique_ptr<Database> database,
      Database::Open(path, /*read_only=*/false, /*vfs=*/"", "job queue"));
  JobQueueOptions kept = options;
  TW_ASSIGN_OR_RETURN(kept.name, PrepareQueue(*database, options.name));
  std::unique_ptr<JobQueue> queue(new JobQueue(std::move(database), kept));
  TW_RETURN_IF_ERROR(Run(*queue->database_,
                         "UPDATE leases SET until_ns = max(until_ns, ?)",
                         now_ns + options.lease_ns));
  return queue;
}

absl::StatusOr<JobStatus> JobQueue::OpenJob(const JobSpec& spec) {
  Database& database = *database_;
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  TW_ASSIGN_OR_RETURN(int64_t id,
                      Number(database, 0, kOpen, spec.owner, spec.key));
  if (id == 0) {
    TW_RETURN_IF_ERROR(
        Run(database,
            "INSERT INTO jobs (owner, key, title, priority, most_tasks, state) "
            "VALUES (?, ?, ?, ?, ?, 0)",
            spec.owner, spec.key, spec.title, int64_t{spec.priority},
            spec.most_tasks));
    TW_ASSIGN_OR_RETURN(id, Number(database, 0, kOpen, spec.owner, spec.key));
  }
  TW_RETURN_IF_ERROR(
      Run(database, "UPDATE jobs SET priority = ?, most_tasks = ? WHERE id = ?",
          int64_t{spec.priority}, spec.most_tasks, id));
  TW_RETURN_IF_ERROR(transaction.Commit());
  return Job(spec.owner, id);
}

absl::Status JobQueue::CheckOwner(const std::string& owner, int64_t job) {
  TW_ASSIGN_OR_RETURN(
      const int64_t known,
      Number(*database_, 0,
             "SELECT count(*) FROM jobs WHERE id = ? AND owner = ?", job,
             owner));
  if (known != 0) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("you have no job ", job, "; 'tilewrightd jobs' lists them"));
}

absl::Status JobQueue::AddTask(int64_t job, const TaskSpec& task) {
  Database& database = *database_;
  TW_RETURN_IF_ERROR(
      Run(database,
          "INSERT OR IGNORE INTO tasks (id, device_class, task_group, request, "
          "state, losses, lease) VALUES (?, ?, ?, ?, 0, 0, 0)",
          task.id, task.device_class, task.group, Blob{task.request}));
  TW_ASSIGN_OR_RETURN(
      Statement known,
      Query(database, "SELECT number, state, request FROM tasks WHERE id = ?",
            task.id));
  TW_RETURN_IF_ERROR(known.Step().status());
  const int64_t number = known.Int(0), state = known.Int(1);
  if (known.Bytes(2) != task.request) {
    return absl::AlreadyExistsError(absl::StrCat(
        "task ", task.id, " is known, and asks for something else"));
  }
  known.Reset();
  TW_ASSIGN_OR_RETURN(
      const int64_t has_it,
      Number(database, 0,
             "SELECT count(*) FROM wanted WHERE job = ? AND task = ?", job,
             number));
  if (has_it != 0) return absl::OkStatus();
  TW_RETURN_IF_ERROR(Run(
      database, "INSERT INTO wanted (job, task) VALUES (?, ?)", job, number));
  // What was given up is tried again for whoever asks anew.
  if (state == kGivenUp) {
    return Run(database,
               "UPDATE tasks SET state = 0, losses = 0 WHERE number = ?",
               number);
  }
  return state == kDone ? TellJobs(number) : absl::OkStatus();
}

absl::Status JobQueue::AddTasks(const std::string& owner, int64_t job,
                                absl::Span<const TaskSpec> tasks) {
  Database& database = *database_;
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  TW_RETURN_IF_ERROR(CheckOwner(owner, job));
  TW_ASSIGN_OR_RETURN(
      const int64_t state,
      Number(database, 0, "SELECT state FROM jobs WHERE id = ?", job));
  if (static_cast<State>(state) != State::kOpen) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", job, " is ", state == 1 ? "closed" : "cancelled",
                     "; open another one"));
  }
  for (const TaskSpec& task : tasks) {
    TW_RETURN_IF_ERROR(AddTask(job, task));
  }
  TW_ASSIGN_OR_RETURN(
      const int64_t room,
      Number(database, 0,
             "SELECT most_tasks - (SELECT count(*) FROM wanted WHERE job = id) "
             "FROM jobs WHERE id = ?",
             job));
  if (room < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("job ", job, " may not have so many tasks: ", -room,
                     " too many; give it a larger budget"));
  }
  return transaction.Commit();
}

absl::Status JobQueue::CloseJob(const std::string& owner, int64_t job) {
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  TW_RETURN_IF_ERROR(CheckOwner(owner, job));
  TW_RETURN_IF_ERROR(Run(
      *database_, "UPDATE jobs SET state = 1 WHERE id = ? AND state = 0", job));
  return transaction.Commit();
}

absl::Status JobQueue::CancelJob(const std::string& owner, int64_t job) {
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  TW_RETURN_IF_ERROR(CheckOwner(owner, job));
  TW_ASSIGN_OR_RETURN(const std::vector<JobStatus> found,
                      JobsWhere(owner, job));
  if (found[0].over()) return absl::OkStatus();
  TW_RETURN_IF_ERROR(
      Run(*database_, "UPDATE jobs SET state = 2 WHERE id = ?", job));
  TW_RETURN_IF_ERROR(DropUnwanted());
  return transaction.Commit();
}

// Tasks that wait, and every job that asked for them is cancelled.
absl::Status JobQueue::DropUnwanted() {
  TW_RETURN_IF_ERROR(
      Run(*database_,
          "DELETE FROM wanted WHERE event IS NULL AND job IN (SELECT id FROM "
          "jobs WHERE state = 2) AND task IN (SELECT number FROM tasks WHERE "
          "state = 0)"));
  return Run(*database_,
             "DELETE FROM tasks WHERE state = 0 AND number NOT IN (SELECT task "
             "FROM wanted)");
}

// job 0: all.
absl::StatusOr<std::vector<JobStatus>> JobQueue::JobsWhere(
    const std::string& owner, int64_t job) {
  TW_ASSIGN_OR_RETURN(
      Statement rows,
      Query(*database_,
            absl::StrCat(kJobColumns,
                         "WHERE owner = ?1 AND (?2 = 0 OR id = ?2) ORDER BY "
                         "id"),
            owner, job));
  return JobsOf(std::move(rows));
}

absl::StatusOr<std::vector<JobStatus>> JobQueue::NewestJobs(int most) {
  TW_ASSIGN_OR_RETURN(
      Statement rows,
      Query(*database_, absl::StrCat(kJobColumns, "ORDER BY id DESC LIMIT ?"),
            int64_t{most}));
  return JobsOf(std::move(rows));
}

absl::StatusOr<std::vector<JobStatus>> JobQueue::JobsOf(Statement rows) {
  std::vector<JobStatus> jobs;
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return jobs;
    JobStatus& status = jobs.emplace_back();
    status.id = rows.Int(0);
    status.spec.owner = std::string(rows.Bytes(1));
    status.spec.key = std::string(rows.Bytes(2));
    status.spec.title = std::string(rows.Bytes(3));
    status.spec.priority = static_cast<int>(rows.Int(4));
    status.spec.most_tasks = rows.Int(5);
    status.state = static_cast<State>(rows.Int(6));
    status.tasks = rows.Int(7);
    status.ended = rows.Int(8);
    status.leased = rows.Int(9);
  }
}

absl::StatusOr<JobStatus> JobQueue::Job(const std::string& owner, int64_t job) {
  TW_RETURN_IF_ERROR(CheckOwner(owner, job));
  TW_ASSIGN_OR_RETURN(std::vector<JobStatus> found, JobsWhere(owner, job));
  return std::move(found[0]);
}

absl::StatusOr<std::vector<JobStatus>> JobQueue::Jobs(
    const std::string& owner) {
  return JobsWhere(owner, /*job=*/0);
}

absl::StatusOr<int64_t> JobQueue::OpenJobs() {
  return database_->Int("SELECT count(*) FROM jobs WHERE state = 0");
}

absl::StatusOr<bool> JobQueue::IsOver(int64_t job) {
  TW_ASSIGN_OR_RETURN(
      const int64_t over,
      Number(*database_, 0,
             "SELECT state = 2 OR (state = 1 AND NOT EXISTS (SELECT 1 FROM "
             "wanted WHERE job = ?1 AND event IS NULL)) FROM jobs WHERE id = "
             "?1",
             job));
  return over != 0;
}

}  // namespace tilewright::measure
