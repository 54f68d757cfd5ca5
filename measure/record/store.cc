#include "measure/record/store.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "measure/record/check_record.h"
#include "measure/record/sqlite.h"
#include "measure/record/store_schema.h"
#include "measure/record/task_id.h"

namespace tilewright::measure {
namespace {

// Selects the columns that ReadRow reads.
constexpr char kSelect[] = "SELECT id, content, record FROM records";

using UseRecord = std::function<absl::Status(const Record&)>;

// Whether a row holds exactly these bytes.
absl::StatusOr<bool> IsPresent(Statement& find, std::string_view content,
                               std::string_view bytes) {
  find.Reset();
  find.BindText(0, content);
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool row, find.Step());
    if (!row) return false;
    if (find.Bytes(0) == bytes) return true;
  }
}

// Whether the result of that task under that lease is there.
absl::StatusOr<bool> IsDelivered(Statement& find, std::string_view task,
                                 std::string_view lease) {
  find.Reset();
  find.BindText(0, task);
  find.BindText(1, lease);
  return find.Step();
}

absl::Status InsertRow(Statement& insert, const Record& record,
                       std::string_view content, std::string_view task,
                       std::string_view bytes) {
  const Measurement& measurement = record.measurement();
  insert.Reset();
  insert.BindText(0, content);
  insert.BindText(1, record.workload().fingerprint());
  insert.BindText(2, record.device().structure_fingerprint());
  insert.Bind(3, static_cast<int64_t>(measurement.outcome()));
  insert.Bind(4, static_cast<int64_t>(measurement.verification().verified()));
  insert.Bind(5, measurement.latency().median_ns());
  insert.Bind(6, static_cast<int64_t>(record.unix_ns()));
  insert.BindText(7, task);
  insert.BindText(8, record.lease());
  insert.BindBlob(9, bytes);
  return insert.Step().status();
}

}  // namespace

Store::Store(std::unique_ptr<Database> database)
    : database_(std::move(database)) {}
Store::~Store() = default;

absl::StatusOr<std::unique_ptr<Store>> Store::Open(
    const std::string& path, const StoreOptions& options) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Database> database,
                      Database::Open(path, options.read_only, options.vfs));
  TW_RETURN_IF_ERROR(PrepareStore(*database, options.read_only));
  return std::unique_ptr<Store>(new Store(std::move(database)));
}

absl::StatusOr<AddedRecords> Store::Insert(
    const std::function<absl::Status(const UseRecord&)>& for_each,
    bool skip_present) {
  TW_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  TW_ASSIGN_OR_RETURN(
      Statement find,
      Statement::Prepare(*database_,
                         "SELECT record FROM records WHERE content = ?"));
  TW_ASSIGN_OR_RETURN(
      Statement delivered,
      Statement::Prepare(*database_,
                         "SELECT id FROM records WHERE task = ? AND lease = ? "
                         "AND lease <> ''"));
  TW_ASSIGN_OR_RETURN(
      Statement insert,
      Statement::Prepare(
          *database_,
          "INSERT INTO records (content, workload, device, outcome, verified, "
          "median_ns, unix_ns, task, lease, record) VALUES (?, ?, ?, ?, ?, ?, "
          "?, ?, ?, ?)"));
  AddedRecords result;
  TW_RETURN_IF_ERROR(for_each([&](const Record& record) -> absl::Status {
    TW_RETURN_IF_ERROR(CheckRecord(record));
    const std::string bytes = record.SerializeAsString();
    const std::string content = Fingerprint::Of(bytes).ToString();
    const std::string task = TaskIdOf(record);
    bool present = false;
    if (!record.lease().empty()) {
      TW_ASSIGN_OR_RETURN(present,
                          IsDelivered(delivered, task, record.lease()));
    } else if (skip_present) {
      TW_ASSIGN_OR_RETURN(present, IsPresent(find, content, bytes));
    }
    if (present) {
      ++result.present;
      return absl::OkStatus();
    }
    ++result.added;
    return InsertRow(insert, record, content, task, bytes);
  }));
  // A statement in use would keep the transaction open.
  find.Reset();
  delivered.Reset();
  insert.Reset();
  TW_RETURN_IF_ERROR(transaction.Commit());
  return result;
}

absl::Status Store::Append(absl::Span<const Record> records) {
  return Insert(
             [&](const UseRecord& use) -> absl::Status {
               for (const Record& record : records) {
                 TW_RETURN_IF_ERROR(use(record));
               }
               return absl::OkStatus();
             },
             /*skip_present=*/false)
      .status();
}

absl::Status Store::Append(const Record& record) {
  return Append(absl::MakeConstSpan(&record, 1));
}

absl::StatusOr<AddedRecords> Store::Add(absl::Span<const Record> records) {
  return Insert(
      [&](const UseRecord& use) -> absl::Status {
        for (const Record& record : records) {
          TW_RETURN_IF_ERROR(use(record));
        }
        return absl::OkStatus();
      },
      /*skip_present=*/true);
}

absl::StatusOr<AddedRecords> Store::Merge(Store& other) {
  return Insert([&](const UseRecord& use) { return other.ForEach({}, use); },
                /*skip_present=*/true);
}

absl::StatusOr<Record> Store::ReadRow(const Statement& row) const {
  Record record;
  const std::string_view bytes = row.Bytes(2);
  if (Fingerprint::Of(bytes).ToString() != row.Bytes(1) ||
      !record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError(database_->About(
        absl::StrCat("record ", row.Int(0),
                     " is damaged; export the others into a new store")));
  }
  return record;
}

absl::StatusOr<Record> Store::Best(const WorkloadKey& workload,
                                   std::string_view structure_fingerprint) {
  TW_ASSIGN_OR_RETURN(
      Statement rows,
      Statement::Prepare(*database_,
                         absl::StrCat(kSelect,
                                      " WHERE workload = ? AND device = ? AND "
                                      "verified = 1 ORDER BY median_ns, "
                                      "content")));
  rows.BindText(0, workload.fingerprint());
  rows.BindText(1, structure_fingerprint);
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) {
      return absl::NotFoundError(database_->About(
          "no verified record of that workload and device; tune it first"));
    }
    TW_ASSIGN_OR_RETURN(Record record, ReadRow(rows));
    if (record.workload().text() == workload.text()) return record;
  }
}

absl::Status Store::ForEach(const StoreQuery& query, const UseRecord& use) {
  TW_ASSIGN_OR_RETURN(
      Statement rows,
      Statement::Prepare(
          *database_,
          absl::StrCat(kSelect,
                       " WHERE (?1 = '' OR workload = ?1) AND (?2 = '' OR "
                       "device = ?2) AND verified >= ?3 ORDER BY id")));
  const std::string workload =
      query.workload ? query.workload->fingerprint() : "";
  rows.BindText(0, workload);
  rows.BindText(1, query.structure_fingerprint);
  rows.Bind(2, static_cast<int64_t>(query.verified_only));
  int64_t damaged = 0;
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) break;
    const absl::StatusOr<Record> record = ReadRow(rows);
    if (!record.ok()) {
      ++damaged;
      continue;
    }
    if (query.workload && record->workload().text() != query.workload->text()) {
      continue;
    }
    TW_RETURN_IF_ERROR(use(*record));
  }
  if (damaged == 0) return absl::OkStatus();
  return absl::DataLossError(database_->About(absl::StrCat(
      damaged, " records are damaged; export the others into a new store")));
}

absl::StatusOr<StoreStats> Store::Stats() {
  StoreStats stats;
  TW_ASSIGN_OR_RETURN(stats.records,
                      database_->Int("SELECT count(*) FROM records"));
  TW_ASSIGN_OR_RETURN(
      stats.workloads,
      database_->Int("SELECT count(*) FROM (SELECT DISTINCT workload, device "
                     "FROM records)"));
  TW_ASSIGN_OR_RETURN(
      stats.verified,
      database_->Int("SELECT count(*) FROM records WHERE verified = 1"));
  TW_ASSIGN_OR_RETURN(
      stats.failed,
      database_->Int(absl::StrCat("SELECT count(*) FROM records WHERE outcome "
                                  "<> ",
                                  static_cast<int>(Measurement::OK))
                         .c_str()));
  return stats;
}

absl::Status Store::CheckIntegrity() {
  TW_ASSIGN_OR_RETURN(const std::string found,
                      database_->Text("PRAGMA integrity_check"));
  if (found != "ok") {
    return absl::DataLossError(database_->About(absl::StrCat(
        "the file is damaged (", found, "); export what can be read")));
  }
  return ForEach({}, [](const Record&) { return absl::OkStatus(); });
}

}  // namespace tilewright::measure
