// Results as their owner reads them: those of a job as they come, and those of
// all jobs.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/jobs/job_queue.h"
#include "measure/jobs/prepared.h"

namespace tilewright::measure {
namespace {

// Each selects a number, an id, whether the task was given up, and its result.
constexpr char kEvents[] = R"(
SELECT event, id, state <> 2, result FROM wanted JOIN tasks ON number = task
WHERE job = ? AND event > ? ORDER BY event LIMIT ?)";

constexpr char kResults[] = R"(
SELECT number, id, 0, result FROM tasks
WHERE state = 2 AND (?2 = '' OR device_class = ?2) AND
  (?3 = '' OR task_group = ?3) AND number > ?4 AND
  EXISTS (SELECT 1 FROM wanted w JOIN jobs j ON j.id = w.job
          WHERE w.task = number AND j.owner = ?1)
ORDER BY number LIMIT ?5)";

constexpr char kDeposits[] = R"(
SELECT number, id, 0, result FROM deposits
WHERE owner = ?1 AND (?2 = '' OR device_class = ?2) AND
  (?3 = '' OR task_group = ?3) AND number > ?4
ORDER BY number LIMIT ?5)";

absl::StatusOr<std::vector<TaskEvent>> EventsOf(Statement rows) {
  std::vector<TaskEvent> events;
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return events;
    TaskEvent& event = events.emplace_back();
    event.number = rows.Int(0);
    event.task = std::string(rows.Bytes(1));
    event.given_up = rows.Int(2) != 0;
    event.result = std::string(rows.Bytes(3));
  }
}

}  // namespace

absl::StatusOr<std::vector<TaskEvent>> JobQueue::Events(
    const std::string& owner, int64_t job, int64_t after, int most) {
  TW_RETURN_IF_ERROR(CheckOwner(owner, job));
  TW_ASSIGN_OR_RETURN(Statement rows,
                      Query(*database_, kEvents, job, after, int64_t{most}));
  return EventsOf(std::move(rows));
}

absl::StatusOr<std::vector<TaskEvent>> JobQueue::Results(
    const std::string& owner, const std::string& device_class,
    const std::string& group, int64_t after, int most) {
  TW_ASSIGN_OR_RETURN(Statement rows,
                      Query(*database_, kResults, owner, device_class, group,
                            after, int64_t{most}));
  return EventsOf(std::move(rows));
}

absl::StatusOr<std::vector<TaskEvent>> JobQueue::Deposits(
    const std::string& owner, const std::string& device_class,
    const std::string& group, int64_t after, int most) {
  TW_ASSIGN_OR_RETURN(Statement rows,
                      Query(*database_, kDeposits, owner, device_class, group,
                            after, int64_t{most}));
  return EventsOf(std::move(rows));
}

absl::Status JobQueue::Deposit(const std::string& owner,
                               absl::Span<const DepositSpec> deposits,
                               int64_t most) {
  Database& database = *database_;
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  for (const DepositSpec& deposit : deposits) {
    TW_RETURN_IF_ERROR(
        Run(database,
            "INSERT OR IGNORE INTO deposits (owner, id, device_class, "
            "task_group, result) VALUES (?, ?, ?, ?, ?)",
            owner, deposit.id, deposit.device_class, deposit.group,
            Blob{deposit.result}));
  }
  TW_ASSIGN_OR_RETURN(
      const int64_t kept,
      Number(database, 0, "SELECT count(*) FROM deposits WHERE owner = ?",
             owner));
  if (kept > most) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no more than ", most, " records of your own are kept here"));
  }
  return transaction.Commit();
}

}  // namespace tilewright::measure
