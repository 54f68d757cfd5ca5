#include "measure/jobs/job_schema.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/jobs/prepared.h"

namespace tilewright::measure {
namespace {

constexpr int64_t kApplicationId = 0x54574a51;  // "TWJQ"
constexpr int64_t kSchemaVersion = 2;

// AUTOINCREMENT: a number is never used again. tasks.lease is the current lease
// while it is leased, then the one that brought its result. wanted.event is the
// number of the event that told the job; null until then.
constexpr char kSchema[] = R"(
CREATE TABLE queue (name TEXT NOT NULL, events INTEGER NOT NULL) STRICT;
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  title TEXT NOT NULL,
  priority INTEGER NOT NULL,
  most_tasks INTEGER NOT NULL,
  state INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX open_jobs ON jobs (owner, key) WHERE state = 0;
CREATE TABLE tasks (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  device_class TEXT NOT NULL,
  task_group TEXT NOT NULL,
  request BLOB NOT NULL,
  state INTEGER NOT NULL,
  losses INTEGER NOT NULL,
  lease INTEGER NOT NULL,
  result BLOB
) STRICT;
CREATE INDEX tasks_by_state ON tasks (state, device_class, number);
CREATE INDEX tasks_by_lease ON tasks (lease) WHERE state = 1;
CREATE TABLE leases (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  worker TEXT NOT NULL,
  until_ns INTEGER NOT NULL
) STRICT;
CREATE TABLE wanted (
  job INTEGER NOT NULL REFERENCES jobs,
  task INTEGER NOT NULL REFERENCES tasks,
  event INTEGER,
  PRIMARY KEY (job, task)
) STRICT, WITHOUT ROWID;
CREATE INDEX wanted_by_task ON wanted (task);
CREATE INDEX wanted_by_event ON wanted (job, event);
)";

// Since version 2.
constexpr char kDepositsSchema[] = R"(
CREATE TABLE deposits (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  device_class TEXT NOT NULL,
  task_group TEXT NOT NULL,
  result BLOB NOT NULL,
  UNIQUE (owner, id)
) STRICT;
)";

}  // namespace

absl::StatusOr<std::string> PrepareQueue(Database& database,
                                         const std::string& name) {
  TW_ASSIGN_OR_RETURN(const int64_t version,
                      database.SchemaVersion(kApplicationId, kSchemaVersion));
  TW_RETURN_IF_ERROR(database.MakeDurable());
  if (version < kSchemaVersion) {
    TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
    if (version == 0) {
      TW_RETURN_IF_ERROR(database.Execute(kSchema));
      TW_RETURN_IF_ERROR(
          measure::Run(database, "INSERT INTO queue VALUES (?, 0)", name));
    }
    TW_RETURN_IF_ERROR(database.Execute(kDepositsSchema));
    TW_RETURN_IF_ERROR(database.Execute(
        absl::StrCat("PRAGMA application_id = ", kApplicationId,
                     "; PRAGMA user_version = ", kSchemaVersion)
            .c_str()));
    TW_RETURN_IF_ERROR(transaction.Commit());
  }
  return database.Text("SELECT name FROM queue");
}

}  // namespace tilewright::measure
