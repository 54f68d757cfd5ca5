// The side of the queue that workers see.
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "measure/jobs/job_queue.h"
#include "measure/jobs/job_schema.h"
#include "measure/jobs/prepared.h"

namespace tilewright::measure {
namespace {

// The task to begin with: of the job with the largest priority, then the one
// that came first.
constexpr char kFirst[] = R"(
SELECT t.task_group, t.losses, t.number FROM tasks t
JOIN wanted w ON w.task = t.number JOIN jobs j ON j.id = w.job
WHERE t.state = 0 AND t.device_class = ? AND j.state <> 2
ORDER BY j.priority DESC, t.number LIMIT 1)";

// Others of its group, unless a worker was lost with them.
constexpr char kGroup[] = R"(
SELECT number, id, request FROM tasks t
WHERE state = 0 AND device_class = ?1 AND
  (number = ?2 OR (?3 AND task_group = ?4 AND losses = 0)) AND
  EXISTS (SELECT 1 FROM wanted w JOIN jobs j ON j.id = w.job
          WHERE w.task = t.number AND j.state <> 2)
ORDER BY number <> ?2, number LIMIT ?5)";

absl::Status LeaseLost(const std::string& lease) {
  return absl::NotFoundError(absl::StrCat(
      "lease ", lease, " is no more: it ran out, or all of it is done"));
}

}  // namespace

int64_t JobQueue::NumberOf(const std::string& lease) const {
  absl::string_view number = lease;
  int64_t value = 0;
  if (!absl::ConsumePrefix(&number, absl::StrCat(options_.name, "-")) ||
      !absl::SimpleAtoi(number, &value) || value < 1) {
    return 0;
  }
  return value;
}

// A task has ended: gives every job that wants it an event.
absl::Status JobQueue::TellJobs(int64_t task) {
  TW_RETURN_IF_ERROR(
      Run(*database_,
          "UPDATE wanted SET event = (SELECT events + 1 FROM queue) WHERE task "
          "= ? AND event IS NULL",
          task));
  return Run(*database_, "UPDATE queue SET events = events + 1");
}

absl::Status JobQueue::EndLease(int64_t lease, bool lost) {
  Database& database = *database_;
  std::vector<int64_t> given_up;
  if (lost) {
    TW_RETURN_IF_ERROR(
        Run(database,
            "UPDATE tasks SET losses = losses + 1 WHERE lease = ? AND state = "
            "1",
            lease));
    TW_ASSIGN_OR_RETURN(
        Statement rows,
        Query(database,
              "SELECT number FROM tasks WHERE lease = ? AND state = 1 AND "
              "losses >= ?",
              lease, int64_t{options_.most_losses}));
    while (true) {
      TW_ASSIGN_OR_RETURN(const bool row, rows.Step());
      if (!row) break;
      given_up.push_back(rows.Int(0));
    }
  }
  for (const int64_t task : given_up) {
    TW_RETURN_IF_ERROR(
        Run(database, "UPDATE tasks SET state = 3, lease = 0 WHERE number = ?",
            task));
    TW_RETURN_IF_ERROR(TellJobs(task));
  }
  TW_RETURN_IF_ERROR(Run(database,
                         "UPDATE tasks SET state = 0, lease = 0 WHERE lease = "
                         "? AND state = 1",
                         lease));
  TW_RETURN_IF_ERROR(Run(database, "DELETE FROM leases WHERE id = ?", lease));
  return DropUnwanted();
}

absl::StatusOr<bool> JobQueue::ExpireDue(int64_t now_ns) {
  std::vector<int64_t> due;
  {
    TW_ASSIGN_OR_RETURN(Statement rows,
                        Query(*database_,
                              "SELECT id FROM leases WHERE until_ns < ? ORDER "
                              "BY id",
                              now_ns));
    while (true) {
      TW_ASSIGN_OR_RETURN(const bool row, rows.Step());
      if (!row) break;
      due.push_back(rows.Int(0));
    }
  }
  for (const int64_t lease : due) {
    TW_RETURN_IF_ERROR(EndLease(lease, /*lost=*/true));
    ++leases_lost_;
  }
  return !due.empty();
}

absl::StatusOr<bool> JobQueue::Expire(int64_t now_ns) {
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  TW_ASSIGN_OR_RETURN(const bool any, ExpireDue(now_ns));
  TW_RETURN_IF_ERROR(transaction.Commit());
  return any;
}

absl::StatusOr<int64_t> JobQueue::WaitingTasks() {
  return database_->Int(
      "SELECT count(*) FROM tasks t WHERE state = 0 AND EXISTS (SELECT 1 FROM "
      "wanted w JOIN jobs j ON j.id = w.job WHERE w.task = t.number AND "
      "j.state <> 2)");
}

absl::StatusOr<int64_t> JobQueue::Leases() {
  return database_->Int("SELECT count(*) FROM leases");
}

absl::StatusOr<LeaseOffer> JobQueue::Lease(const std::string& worker,
                                           const std::string& device_class,
                                           int most, int64_t now_ns) {
  Database& database = *database_;
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  TW_RETURN_IF_ERROR(ExpireDue(now_ns).status());
  LeaseOffer offer;
  std::string group;
  int64_t losses = 0, first = 0;
  {
    TW_ASSIGN_OR_RETURN(Statement row, Query(database, kFirst, device_class));
    TW_ASSIGN_OR_RETURN(const bool found, row.Step());
    if (found) {
      group = std::string(row.Bytes(0));
      losses = row.Int(1);
      first = row.Int(2);
    }
  }
  if (first == 0) {
    TW_RETURN_IF_ERROR(transaction.Commit());
    return offer;
  }
  offer.until_ns = now_ns + options_.lease_ns;
  TW_RETURN_IF_ERROR(Run(database,
                         "INSERT INTO leases (worker, until_ns) VALUES (?, ?)",
                         worker, offer.until_ns));
  TW_ASSIGN_OR_RETURN(const int64_t lease,
                      database.Int("SELECT last_insert_rowid()"));
  offer.name = absl::StrCat(options_.name, "-", lease);
  std::vector<int64_t> taken;
  {
    TW_ASSIGN_OR_RETURN(Statement rows,
                        Query(database, kGroup, device_class, first,
                              int64_t{losses == 0}, group, int64_t{most}));
    while (true) {
      TW_ASSIGN_OR_RETURN(const bool row, rows.Step());
      if (!row) break;
      taken.push_back(rows.Int(0));
      offer.tasks.push_back(
          {std::string(rows.Bytes(1)), std::string(rows.Bytes(2))});
    }
  }
  for (const int64_t task : taken) {
    TW_RETURN_IF_ERROR(
        Run(database, "UPDATE tasks SET state = 1, lease = ? WHERE number = ?",
            lease, task));
  }
  TW_RETURN_IF_ERROR(transaction.Commit());
  return offer;
}

absl::StatusOr<std::string> JobQueue::Holder(const std::string& lease) {
  TW_ASSIGN_OR_RETURN(
      Statement row, Query(*database_, "SELECT worker FROM leases WHERE id = ?",
                           NumberOf(lease)));
  TW_ASSIGN_OR_RETURN(const bool found, row.Step());
  return found ? std::string(row.Bytes(0)) : std::string();
}

absl::StatusOr<bool> JobQueue::Heartbeat(const std::string& lease,
                                         int64_t now_ns) {
  Database& database = *database_;
  const int64_t number = NumberOf(lease);
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  TW_RETURN_IF_ERROR(ExpireDue(now_ns).status());
  TW_RETURN_IF_ERROR(Run(database,
                         "UPDATE leases SET until_ns = ? WHERE id = ?",
                         now_ns + options_.lease_ns, number));
  TW_ASSIGN_OR_RETURN(
      const int64_t current,
      Number(database, 0, "SELECT count(*) FROM leases WHERE id = ?", number));
  TW_ASSIGN_OR_RETURN(
      const int64_t wanted,
      Number(
          database, 0,
          "SELECT count(*) FROM tasks JOIN wanted ON task = number JOIN jobs "
          "ON jobs.id = job WHERE lease = ? AND tasks.state = 1 AND "
          "jobs.state <> 2",
          number));
  TW_RETURN_IF_ERROR(transaction.Commit());
  if (current == 0) return LeaseLost(lease);
  return wanted > 0;
}

absl::StatusOr<Completion> JobQueue::Deliver(const Delivery& delivery) {
  Database& database = *database_;
  const int64_t lease = NumberOf(delivery.lease);
  int64_t state = kGivenUp, task = 0;
  {
    TW_ASSIGN_OR_RETURN(
        Statement row,
        Query(database,
              "SELECT state, number FROM tasks WHERE id = ? AND lease = ? AND "
              "lease <> 0",
              delivery.task, lease));
    TW_ASSIGN_OR_RETURN(const bool found, row.Step());
    if (found) {
      state = row.Int(0);
      task = row.Int(1);
    }
  }
  if (state != kLeased)
    return state == kDone ? Completion::kRepeated : Completion::kStale;
  TW_RETURN_IF_ERROR(
      Run(database, "UPDATE tasks SET state = 2, result = ? WHERE number = ?",
          Blob{delivery.result}, task));
  TW_RETURN_IF_ERROR(TellJobs(task));
  TW_RETURN_IF_ERROR(
      Run(database,
          "DELETE FROM leases WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM "
          "tasks WHERE lease = ?1 AND state = 1)",
          lease));
  return Completion::kAccepted;
}

absl::StatusOr<std::vector<Completion>> JobQueue::CompleteAll(
    absl::Span<const Delivery> deliveries, int64_t now_ns) {
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  TW_RETURN_IF_ERROR(ExpireDue(now_ns).status());
  std::vector<Completion> completions;
  for (const Delivery& delivery : deliveries) {
    TW_ASSIGN_OR_RETURN(completions.emplace_back(), Deliver(delivery));
  }
  TW_RETURN_IF_ERROR(transaction.Commit());
  return completions;
}

absl::StatusOr<Completion> JobQueue::Complete(const std::string& lease,
                                              const std::string& task,
                                              const std::string& result,
                                              int64_t now_ns) {
  TW_ASSIGN_OR_RETURN(const std::vector<Completion> completions,
                      CompleteAll({{lease, task, result}}, now_ns));
  return completions[0];
}

absl::Status JobQueue::GiveBack(const std::string& lease, bool lost,
                                int64_t now_ns) {
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  TW_RETURN_IF_ERROR(ExpireDue(now_ns).status());
  TW_RETURN_IF_ERROR(EndLease(NumberOf(lease), lost));
  return transaction.Commit();
}

}  // namespace tilewright::measure
