#include "measure/record/store_schema.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "measure/record/record.pb.h"
#include "measure/record/task_id.h"

namespace tilewright::measure {
namespace {

constexpr int64_t kApplicationId = 0x54575253;  // "TWRS"
constexpr int64_t kSchemaVersion = 2;

// `content` is the fingerprint of `record`: finds damage and duplicates.
constexpr char kFirstSchema[] = R"(
CREATE TABLE records (
  id INTEGER PRIMARY KEY,
  content TEXT NOT NULL,
  workload TEXT NOT NULL,
  device TEXT NOT NULL,
  outcome INTEGER NOT NULL,
  verified INTEGER NOT NULL,
  median_ns REAL NOT NULL,
  unix_ns INTEGER NOT NULL,
  record BLOB NOT NULL
) STRICT;
CREATE INDEX records_by_content ON records (content);
CREATE INDEX records_by_rank
  ON records (workload, device, verified, median_ns, content);
)";

// `task` is TaskIdOf(record), empty if that is damaged.
constexpr char kSecondSchema[] = R"(
ALTER TABLE records ADD COLUMN task TEXT NOT NULL DEFAULT '';
ALTER TABLE records ADD COLUMN lease TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX records_by_lease ON records (task, lease)
  WHERE lease <> '';
)";

absl::Status SetTasks(Database& database) {
  TW_ASSIGN_OR_RETURN(
      Statement rows,
      Statement::Prepare(database, "SELECT id, record FROM records"));
  TW_ASSIGN_OR_RETURN(
      Statement update,
      Statement::Prepare(database, "UPDATE records SET task = ? WHERE id = ?"));
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return absl::OkStatus();
    Record record;
    const std::string_view bytes = rows.Bytes(1);
    if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      continue;  // whoever reads it says so
    }
    const std::string task = TaskIdOf(record);
    update.Reset();
    update.BindText(0, task);
    update.Bind(1, rows.Int(0));
    TW_RETURN_IF_ERROR(update.Step().status());
  }
}

absl::Status Upgrade(Database& database) {
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(database));
  // Somebody else may have been faster.
  TW_ASSIGN_OR_RETURN(const int64_t version,
                      database.Int("PRAGMA user_version"));
  if (version >= kSchemaVersion) return absl::OkStatus();
  if (version == 0) TW_RETURN_IF_ERROR(database.Execute(kFirstSchema));
  TW_RETURN_IF_ERROR(database.Execute(kSecondSchema));
  TW_RETURN_IF_ERROR(SetTasks(database));
  TW_RETURN_IF_ERROR(
      database.Execute(absl::StrCat("PRAGMA application_id = ", kApplicationId,
                                    "; PRAGMA user_version = ", kSchemaVersion)
                           .c_str()));
  return transaction.Commit();
}

}  // namespace

// Whose the file is comes first: until then nothing may be written.
absl::Status PrepareStore(Database& database, bool read_only) {
  TW_ASSIGN_OR_RETURN(const int64_t version,
                      database.SchemaVersion(kApplicationId, kSchemaVersion));
  if (read_only) {
    return version > 0 ? absl::OkStatus()
                       : absl::InvalidArgumentError(
                             database.About("the file is empty"));
  }
  TW_RETURN_IF_ERROR(database.MakeDurable());
  return version == kSchemaVersion ? absl::OkStatus() : Upgrade(database);
}

}  // namespace tilewright::measure
